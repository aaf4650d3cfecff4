// Run the real client through all features of the channel and print what it observed as one JSON object.
import { Presence, reply, connect, watch, finish } from "./phoenix_client.mjs";

const [url, key, model] = process.argv.slice(2);
const observed = {};

const socket = connect(url, { params: { token: "not-looked-at" } });
const channel = socket.channel("cortex:agent-123", { api_key: key });
const remembering = await fetch(`${url}/v1/tools/remember`, {
  method: "POST",
  headers: { Authorization: `Bearer ${key}` },
  body: JSON.stringify({ content: "Users prefer dark mode." }),
});
observed.remembered = remembering.status;
const { events, next } = watch(channel);
const presence = new Presence(channel);
observed.joined = await reply(channel.join());

observed.accepted = await reply(channel.push("query", { q: "What do users prefer?", ref: "q1", priority: 9, timeout: 20000 }));
observed.result = await next("result", ({ ref }) => ref === "q1");
observed.thoughts = events.filter(({ event }) => event === "thought");

observed.slow = await reply(channel.push("query", { q: "Please write what users prefer", ref: "q2" }));
await fetch(`${model}/hanging/1`);
observed.interrupt = await reply(channel.push("interrupt", { ref: "q2", reason: "user cancelled" }));
observed.interrupted = await next("interrupted");
observed.interrupted_result = await next("result", ({ ref }) => ref === "q2");
observed.disconnected = await (await fetch(`${model}/disconnected/1`)).json();

await reply(channel.push("query", { q: "Please write what users prefer", ref: "q3", timeout: 300 }));
observed.late = await next("result", ({ ref }) => ref === "q3");

observed.ping = await reply(channel.push("ping", {}));
observed.unknown_interrupt = await reply(channel.push("interrupt", { ref: "nobody" }));
observed.incomplete = await reply(channel.push("query", { priority: 1 }));
observed.binary = await reply(channel.push("query", new Uint8Array([1, 2, 3]).buffer));
observed.heartbeat = await new Promise((resolve) => socket.ping((milliseconds) => resolve(milliseconds >= 0)));

observed.called = await reply(channel.push("call", { tool: "remember", arguments: { content: "Users like tea." }, ref: "c1" }));
observed.call_result = await next("result", ({ ref }) => ref === "c1");

// Another connection of the same agent, with the key as authToken.
const came = new Promise((resolve) => presence.onJoin((id, _, { metas }) => resolve([id, metas.length])));
const second = connect(url, { authToken: key });
const other = second.channel("cortex:agent-123");
const others = watch(other);
const otherPresence = new Presence(other);
const synced = new Promise((resolve) => otherPresence.onSync(resolve));
observed.second_joined = await reply(other.join());
observed.came = await came;
await synced;
observed.present = presence.list((id, { metas }) => [id, metas.length, Object.keys(metas[0]).sort()]);
observed.present_to_second = otherPresence.list((id, { metas }) => [id, metas.length]);
await reply(other.push("query", { q: "What do users prefer?", ref: "q1" }));
observed.second_result = (await others.next("result")).status;
observed.not_mine = events.filter(({ event, ref }) => event === "result" && ref === "q1").length;
const left = new Promise((resolve) => presence.onLeave((id, { metas }) => metas.length === 1 && resolve(id)));
let closed = false;
other.onClose(() => (closed = true));
observed.leave = await reply(other.leave());
observed.left = await left;
observed.closed = closed;
second.disconnect();

// Several topics on one socket.
const third = socket.channel("cortex:agent-456");
observed.keyless = await reply(third.join());
third.leave();
const fourth = socket.channel("cortex:agent-789", { token: key });
observed.fourth = await reply(fourth.join());
observed.subscribed = await reply(fourth.push("subscribe", { events: ["result"] }));
const quiet = watch(fourth);
await reply(fourth.push("query", { q: "What do users prefer?", ref: "q1" }));
await quiet.next("result");
observed.quiet = [...new Set(quiet.events.map(({ event }) => event))];
const stranger = socket.channel("lobby", { api_key: key });
observed.stranger = await reply(stranger.join());
stranger.leave();

const wrong = connect(url);
const refused = wrong.channel("cortex:agent-123", { api_key: "wrong-key-wrong-key" });
observed.wrong = await reply(refused.join());
refused.leave();
observed.without_key = await reply(wrong.channel("cortex:agent-1").join());
wrong.disconnect();
finish(observed);
