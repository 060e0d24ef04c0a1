// An application that answers a question with a model and a tool: the same as
// ../python/support.py. Nothing here knows about Assay, except show, which
// reads the traces back.
const { SpanStatusCode } = require('@opentelemetry/api')
const { OpenAI } = require('openai')

const tools = [{
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}]

// answer chats with a tool, streams and embeds.
async function answer(client, getWeather) {
  const messages = [
    { role: 'system', content: 'You are brief.' },
    { role: 'user', content: 'How is the weather in Lisbon?' },
  ]
  const ask = () => client.chat.completions.create({ model: 'gpt-4o-mini', messages, tools, temperature: 0.5 })
  const call = (await ask()).choices[0].message.tool_calls[0]
  messages.push({ role: 'assistant', tool_calls: [call] })
  messages.push({ role: 'tool', tool_call_id: call.id, content: await getWeather(call) })
  await ask()

  const stream = await client.chat.completions.create({
    model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Count to three.' }], stream: true, stream_options: { include_usage: true },
  })
  for await (const _ of stream) { /* to its end */ }
  await client.embeddings.create({ model: 'text-embedding-3-small', input: 'How is the weather in Lisbon?' })
}

// inSpan runs work in a span that ends as the work does.
function inSpan(tracer, name, attributes, work) {
  return tracer.startActiveSpan(name, { attributes }, async span => {
    try {
      return await work(span)
    } catch (error) {
      span.recordException(error)
      span.setStatus({ code: SpanStatusCode.ERROR, message: error.message })
      throw error
    } finally {
      span.end()
    }
  })
}

// run makes two traces, one that completes and one that fails, and returns
// their ids by name.
async function run(tracer, getWeather, attributes) {
  const client = new OpenAI({ maxRetries: 0 })
  const ids = {}
  await inSpan(tracer, 'answer question', attributes, span => {
    ids.answer = span.spanContext().traceId
    return answer(client, getWeather)
  })
  await inSpan(tracer, 'ask in vain', attributes, span => {
    ids.fail = span.spanContext().traceId
    return client.chat.completions.create({ model: 'no-such-model', messages: [{ role: 'user', content: 'Hello?' }] })
  }).catch(error => {
    if (error.status !== 404) throw error
  })
  return ids
}

// show reads the traces and prints them with their status codes. It is called
// right after the exporter's flush: whatever is not readable then is missing.
async function show(ids) {
  const read = {}
  for (const [name, id] of Object.entries(ids)) {
    const response = await fetch(`${process.env.SERVICE_URL}/api/traces/${id}`, {
      headers: { Authorization: `Bearer ${process.env.SERVICE_API_KEY}` },
    })
    read[name] = { status: response.status, body: await response.json() }
  }
  process.stdout.write(JSON.stringify(read))
}

module.exports = { inSpan, run, show }
