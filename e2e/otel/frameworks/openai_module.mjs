// The client of OpenAI in an ES module, within a span of the application's own,
// watched by OpenInference.

// setup
import { NodeSDK } from '@opentelemetry/sdk-node'
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'
import OpenAI from 'openai'

const instrumentation = new OpenAIInstrumentation()
const sdk = new NodeSDK({ instrumentations: [instrumentation] })
sdk.start()
instrumentation.manuallyInstrument(OpenAI) // what an ES module imports cannot be watched otherwise
// end

import { setMetadata, setSession, setTags, setUser } from '@arizeai/openinference-core'
import { context, trace } from '@opentelemetry/api'

const tools = [{
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}]
const tracer = trace.getTracer('support')
const messages = [{ role: 'user', content: 'How is the weather in Lisbon?' }]
const ask = () => new OpenAI().chat.completions.create({ model: 'gpt-4o-mini', messages, tools })

const who = setTags(setMetadata(setUser(setSession(context.active(), { sessionId: 'conversation-2' }), { userId: 'user-2' }), { plan: 'pro' }), ['e2e'])
await context.with(who, () => tracer.startActiveSpan('answer question', async span => {
  const call = (await ask()).choices[0].message.tool_calls[0]
  tracer.startActiveSpan('get_weather', tool => {
    tool.setAttributes({
      'openinference.span.kind': 'TOOL', 'tool.name': call.function.name, 'input.value': call.function.arguments, 'output.value': '{"sky":"sunny"}',
    })
    tool.end()
  })
  messages.push({ role: 'assistant', tool_calls: [call] }, { role: 'tool', tool_call_id: call.id, content: '{"sky":"sunny"}' })
  await ask()
  span.end()
}))
await sdk.shutdown()
