// Run requests through OpenAI's own JavaScript client and print the outcome of each.
import OpenAI from "openai";

const [baseURL, apiKey, model] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey, maxRetries: 0, timeout: 30000 });
const userMessage = (content) => [{ role: "user", content }];
const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];
const failure = async (work) => {
  try {
    await work();
    return null;
  } catch (error) {
    return { name: error.constructor.name, status: error.status, code: error.code, type: error.type };
  }
};

const observed = {};

const chat = await client.chat.completions.create({ model, messages: userMessage("hello") });
observed.chat = { text: chat.choices[0].message.content, usage: chat.usage.total_tokens, scrubjay: chat.scrubjay };

observed.stream = { text: "", usage: null };
for await (const chunk of await client.chat.completions.create({
  model, messages: userMessage("good day"), stream: true, stream_options: { include_usage: true },
})) {
  observed.stream.text += chunk.choices[0]?.delta?.content ?? "";
  observed.stream.usage = chunk.usage?.total_tokens ?? observed.stream.usage;
}

const messages = userMessage("How is the weather?");
const first = (await client.chat.completions.create({ model, messages, tools })).choices[0].message;
messages.push(first, { role: "tool", tool_call_id: first.tool_calls[0].id, content: "raining" });
const answered = await client.chat.completions.create({ model, messages, tools });
observed.tools = { called: first.tool_calls[0].function.name, text: answered.choices[0].message.content };

const [packed, plain] = await Promise.all(
  [undefined, "float"].map((encoding_format) =>
    client.embeddings.create({ model: "static-v1", input: ["a cat", "a dog"], encoding_format })),
);
observed.embeddings = packed.data.map((entry, place) => [
  entry.embedding.length,
  Math.max(...entry.embedding.map((number, index) => Math.abs(number - plain.data[place].embedding[index]))),
]);

const response = await client.responses.create({ model, input: "hi there" });
observed.response = response.output_text;
observed.events = [];
for await (const event of await client.responses.create({ model, input: "hi there", stream: true })) {
  if (observed.events.at(-1) !== event.type) observed.events.push(event.type);
}

observed.models = (await client.models.list()).data.map((entry) => entry.id);
observed.unknown = await failure(() => client.chat.completions.create({ model: "gpt-99", messages: userMessage("x") }));
observed.refused = await failure(() => client.chat.completions.create({ model, messages: userMessage("fail 400") }));
observed.slow = await failure(() => client.chat.completions.create({ model, messages: userMessage("silence") }));
const wrongKey = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: "a-wrong-key-a-wrong-key", maxRetries: 0 });
observed.wrongKey = await failure(() => wrongKey.models.list());

const endless = await client.chat.completions.create({ model, messages: userMessage("endless"), stream: true });
for await (const chunk of endless) {
  observed.cancelled = chunk.id;
  break; // leaving the loop ends the request
}

console.log(JSON.stringify(observed));
