// Asks a server through OpenAI's own client for JavaScript, and prints what came of each question.
import OpenAI from "openai";

const [baseURL, apiKey, model] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey, maxRetries: 0, timeout: 30000 });
const said = (content) => [{ role: "user", content }];
const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];
const failure = async (work) => {
  try {
    await work();
    return null;
  } catch (error) {
    return { name: error.constructor.name, status: error.status, code: error.code, type: error.type };
  }
};

const told = {};

const chat = await client.chat.completions.create({ model, messages: said("hello") });
told.chat = { text: chat.choices[0].message.content, usage: chat.usage.total_tokens, scrubjay: chat.scrubjay };

told.stream = { text: "", usage: null };
for await (const chunk of await client.chat.completions.create({
  model, messages: said("good day"), stream: true, stream_options: { include_usage: true },
})) {
  told.stream.text += chunk.choices[0]?.delta?.content ?? "";
  told.stream.usage = chunk.usage?.total_tokens ?? told.stream.usage;
}

const messages = said("How is the weather?");
const asked = (await client.chat.completions.create({ model, messages, tools })).choices[0].message;
messages.push(asked, { role: "tool", tool_call_id: asked.tool_calls[0].id, content: "raining" });
const answered = await client.chat.completions.create({ model, messages, tools });
told.tools = { called: asked.tool_calls[0].function.name, text: answered.choices[0].message.content };

const [packed, plain] = await Promise.all(
  [undefined, "float"].map((encoding_format) =>
    client.embeddings.create({ model: "static-v1", input: ["a cat", "a dog"], encoding_format })),
);
told.embeddings = packed.data.map((entry, place) => [
  entry.embedding.length,
  Math.max(...entry.embedding.map((number, index) => Math.abs(number - plain.data[place].embedding[index]))),
]);

const response = await client.responses.create({ model, input: "hi there" });
told.response = response.output_text;
told.events = [];
for await (const event of await client.responses.create({ model, input: "hi there", stream: true })) {
  if (told.events.at(-1) !== event.type) told.events.push(event.type);
}

told.models = (await client.models.list()).data.map((entry) => entry.id);
told.unknown = await failure(() => client.chat.completions.create({ model: "gpt-99", messages: said("x") }));
told.refused = await failure(() => client.chat.completions.create({ model, messages: said("fail 400") }));
told.slow = await failure(() => client.chat.completions.create({ model, messages: said("silence") }));
const stranger = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: "a-wrong-key-a-wrong-key", maxRetries: 0 });
told.stranger = await failure(() => stranger.models.list());

const endless = await client.chat.completions.create({ model, messages: said("endless"), stream: true });
for await (const chunk of endless) {
  told.cancelled = chunk.id;
  break; // leaving the loop ends the request
}

console.log(JSON.stringify(told));
