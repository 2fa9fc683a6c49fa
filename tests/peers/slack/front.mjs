// emulate's Slack, as a client of the Web API knows it:
//   node front.mjs APP SEED     prints the port that it listens on
// APP is the address that is told of events, for which emulate has no option. SEED is JSON, emulate's
// own. Parameters may come in the query, where emulate does not look, and a method that it does not
// have is refused as Slack refuses it.
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createEmulator } from 'emulate';

const [APP, SEED] = process.argv.slice(2);
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** emulate's Slack; the file that it is in has another name in each version. */
async function slackPlugin() {
  const folder = new URL('.', import.meta.resolve('emulate'));
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.js'))) {
    const file = new URL(name, folder);
    if (readFileSync(file, 'utf8').includes('var slackPlugin =')) {
      return (await import(file)).slackPlugin;
    }
  }
  throw new Error('this version of emulate has no Slack');
}

/** The application that answers requests, with its files at `base`. */
async function emulated(base) {
  const slack = await slackPlugin();
  const register = slack.register.bind(slack);
  let application;
  slack.register = (app, store, webhooks, _base, ...more) => {
    register(app, store, webhooks, base, ...more);
    webhooks.register({ url: APP, events: ['*'], active: true, owner: 'slack' });
    application = app;
  };
  await createEmulator({ service: 'slack', port: 0, seed: { slack: JSON.parse(SEED) } });
  return application;
}

/** A call of a method with every parameter in its body. */
function call(url, headers, body) {
  const type = headers.get('content-type') ?? '';
  const init = { method: 'POST', headers, body };
  if (type.startsWith(JSON_TYPE)) {
    const given = JSON.parse(body.toString() || '{}');
    init.body = JSON.stringify({ ...Object.fromEntries(url.searchParams), ...given });
  } else if (!type.startsWith('multipart/')) {
    const given = new URLSearchParams(body.toString());
    init.body = new URLSearchParams([...url.searchParams, ...given]).toString();
    headers.set('content-type', FORM_TYPE);
  }
  return new Request(new URL(url.pathname, url), init);
}

function request(heard, body, base) {
  const url = new URL(heard.url, base);
  const headers = new Headers();
  for (const name of ['authorization', 'content-type']) {
    if (heard.headers[name]) headers.set(name, heard.headers[name]);
  }
  if (url.pathname.startsWith('/api/')) return call(url, headers, body);
  return new Request(url, { method: heard.method, headers, body: body.length ? body : undefined });
}

async function answer(asked, application) {
  const given = await application.fetch(asked);
  const isMissing = given.status === 404 && new URL(asked.url).pathname.startsWith('/api/');
  return isMissing ? Response.json({ ok: false, error: 'unknown_method' }) : given;
}

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const base = `http://127.0.0.1:${server.address().port}`;
const application = await emulated(base);
server.on('request', async (heard, reply) => {
  const given = await answer(request(heard, await buffer(heard), base), application);
  reply.writeHead(given.status, { 'content-type': given.headers.get('content-type') ?? JSON_TYPE });
  reply.end(Buffer.from(await given.arrayBuffer()));
});
console.log(server.address().port);
