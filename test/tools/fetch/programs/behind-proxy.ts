// Asks servers of this machine while the environment names a proxy, and trusts any certificate.
import { certificate, local, serve, web } from "../kit";

await using plain = serve(() => new Response("direct"));
await using secure = serve(() => new Response("direct"), { isSecure: true });
const at = { plain: `http://a.test:${plain.port}`, secure: `https://a.test:${secure.port}` };
await using tool = web({ allow: [local(`${at.plain}/*`), local(`${at.secure}/*`, { ca: certificate })] });
const [one, two] = [await tool.get(`${at.plain}/`), await tool.get(`${at.secure}/`)];
const naive = await (await fetch(`http://127.0.0.1:${plain.port}/`)).text();
console.log(
  JSON.stringify({
    plain: "content" in one ? one.content : one.kind,
    secure: "content" in two ? two.content : two.kind,
    naive,
  }),
);
