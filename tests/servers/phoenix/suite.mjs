// One run of the real client through all that the channel offers; prints what it saw as one JSON object.
import { Presence, answer, connect, heard, tell } from "./phoenix_client.mjs";

const [url, key, model] = process.argv.slice(2);
const saw = {};

const socket = connect(url, { params: { token: "not-looked-at" } });
const channel = socket.channel("cortex:agent-123", { api_key: key });
const remembering = await fetch(`${url}/v1/tools/remember`, {
  method: "POST",
  headers: { Authorization: `Bearer ${key}` },
  body: JSON.stringify({ content: "Users prefer dark mode." }),
});
saw.remembered = remembering.status;
const { events, next } = heard(channel);
const presence = new Presence(channel);
saw.joined = await answer(channel.join());

saw.accepted = await answer(channel.push("query", { q: "What do users prefer?", ref: "q1", priority: 9, timeout: 20000 }));
saw.result = await next("result", ({ ref }) => ref === "q1");
saw.thoughts = events.filter(({ event }) => event === "thought");

saw.slow = await answer(channel.push("query", { q: "Please write what users prefer", ref: "q2" }));
await fetch(`${model}/asked/1`);
saw.interrupt = await answer(channel.push("interrupt", { ref: "q2", reason: "user cancelled" }));
saw.interrupted = await next("interrupted");
saw.interrupted_result = await next("result", ({ ref }) => ref === "q2");
saw.abandoned = await (await fetch(`${model}/abandoned/1`)).json();

await answer(channel.push("query", { q: "Please write what users prefer", ref: "q3", timeout: 300 }));
saw.late = await next("result", ({ ref }) => ref === "q3");

saw.ping = await answer(channel.push("ping", {}));
saw.unknown_interrupt = await answer(channel.push("interrupt", { ref: "nobody" }));
saw.incomplete = await answer(channel.push("query", { priority: 1 }));
saw.binary = await answer(channel.push("query", new Uint8Array([1, 2, 3]).buffer));
saw.heartbeat = await new Promise((resolve) => socket.ping((milliseconds) => resolve(milliseconds >= 0)));

saw.called = await answer(channel.push("call", { tool: "remember", arguments: { content: "Users like tea." }, ref: "c1" }));
saw.call_result = await next("result", ({ ref }) => ref === "c1");

// Another connection of the same agent, with the key as authToken.
const came = new Promise((resolve) => presence.onJoin((id, _, { metas }) => resolve([id, metas.length])));
const second = connect(url, { authToken: key });
const other = second.channel("cortex:agent-123");
const others = heard(other);
const otherPresence = new Presence(other);
const synced = new Promise((resolve) => otherPresence.onSync(resolve));
saw.second_joined = await answer(other.join());
saw.came = await came;
await synced;
saw.present = presence.list((id, { metas }) => [id, metas.length, Object.keys(metas[0]).sort()]);
saw.present_to_second = otherPresence.list((id, { metas }) => [id, metas.length]);
await answer(other.push("query", { q: "What do users prefer?", ref: "q1" }));
saw.second_result = (await others.next("result")).status;
saw.not_mine = events.filter(({ event, ref }) => event === "result" && ref === "q1").length;
const left = new Promise((resolve) => presence.onLeave((id, { metas }) => metas.length === 1 && resolve(id)));
let closed = false;
other.onClose(() => (closed = true));
saw.leave = await answer(other.leave());
saw.left = await left;
saw.closed = closed;
second.disconnect();

// Several topics on one socket.
const third = socket.channel("cortex:agent-456");
saw.keyless = await answer(third.join());
third.leave();
const fourth = socket.channel("cortex:agent-789", { token: key });
saw.fourth = await answer(fourth.join());
saw.subscribed = await answer(fourth.push("subscribe", { events: ["result"] }));
const quiet = heard(fourth);
await answer(fourth.push("query", { q: "What do users prefer?", ref: "q1" }));
await quiet.next("result");
saw.quiet = [...new Set(quiet.events.map(({ event }) => event))];
const stranger = socket.channel("lobby", { api_key: key });
saw.stranger = await answer(stranger.join());
stranger.leave();

const wrong = connect(url);
const refused = wrong.channel("cortex:agent-123", { api_key: "wrong-key-wrong-key" });
saw.wrong = await answer(refused.join());
refused.leave();
saw.without_key = await answer(wrong.channel("cortex:agent-1").join());
wrong.disconnect();
tell(saw);
