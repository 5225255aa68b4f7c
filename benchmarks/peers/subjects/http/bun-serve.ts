import { startServer } from "../../../subjects/http-process";

export const open = () => startServer(new URL("../../../subjects/http-floors.ts", import.meta.url).href, "echo");
