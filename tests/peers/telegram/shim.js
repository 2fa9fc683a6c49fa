// telegram-test-api, with the few answers that Bot API clients insist on and it leaves out:
//   node shim.js            prints the port that it listens on
// What it does not know is refused as an old Bot API server refuses it.
'use strict';

const express = require('express');
const TelegramServer = require('telegram-test-api');

const PASSED_ON = new Set(['deleteMessage']);
const LOOK_EVERY = 20; // milliseconds, while a long poll has nothing to bring

const peer = new TelegramServer({ port: 1, host: '127.0.0.1', storeTimeout: 600 });

async function longPoll(token, seconds) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const updates = peer.getUpdates(token);
    if (updates.length > 0 || Date.now() >= end) return updates;
    await new Promise((resume) => setTimeout(resume, LOOK_EVERY));
  }
}

const ANSWERS = {
  getMe: () => ({
    id: 666, is_bot: true, first_name: 'Belay', username: 'belay_bot', can_join_groups: true,
    can_read_all_group_messages: true, supports_inline_queries: false,
  }),
  getUpdates: (given, token) => longPoll(token, Number(given.timeout || 0)),
  deleteWebhook: () => true,
  getMyCommands: () => [],
  setMyCommands: () => true,
  sendChatAction: () => true,
  answerCallbackQuery: () => true,
  sendMessage: (given, token) => {
    // Its own answer repeats fields that came as JSON in a form, still as strings.
    const { message_id, date, chat, text } = peer.addBotMessage(given, token);
    return { message_id, date: Math.floor(date / 1000), chat, text };
  },
  editMessageText: (given) => {
    peer.editMessageText(given);
    const chat = { id: Number(given.chat_id), type: 'private' };
    const date = Math.floor(Date.now() / 1000);
    return { message_id: Number(given.message_id), date, chat, text: given.text };
  },
};

const app = express();
app.use('/bot:token/:method', express.json(), express.urlencoded({ extended: true }));
app.all('/bot:token/:method', async (request, response, next) => {
  const { token, method } = request.params;
  if (PASSED_ON.has(method)) return next();
  const answer = ANSWERS[method];
  if (answer === undefined) {
    const description = 'Not Found: method not found';
    return response.status(404).json({ ok: false, error_code: 404, description });
  }
  const result = await answer({ ...request.query, ...request.body }, token);
  return response.json({ ok: true, result });
});
app.use(peer.webServer);

const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port));
