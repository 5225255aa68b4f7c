/**
 * Starts the service: `TOKENS="ada=…" bun start`. Ctrl-C and SIGTERM end it in order; a second signal ends it at once. Status 2: it could not
 * start, and says why.
 */
import { startService } from "./service";
import { settingsOf } from "./settings";

try {
  const { url } = startService(settingsOf(process.env));
  console.log(`It listens at ${url}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
