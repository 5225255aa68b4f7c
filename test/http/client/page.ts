// The script of a page: gives its tests the client as it is in the package.
import { createClient } from "envoi/http/client";

Object.assign(globalThis, { createClient });
