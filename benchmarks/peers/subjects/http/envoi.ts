import { startServer } from "../../../subjects/http-process";

export const open = () => startServer(new URL("../../../subjects/http-servers.ts", import.meta.url).href, "gateway");
