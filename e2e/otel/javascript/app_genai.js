// The application, watched by OpenTelemetry's own instrumentation. The SDK
// exports as it does if nothing is configured: OTLP over HTTP as protobuf.
const { NodeSDK } = require('@opentelemetry/sdk-node')
const { OpenAIInstrumentation } = require('@opentelemetry/instrumentation-openai')

const sdk = new NodeSDK({ instrumentations: [new OpenAIInstrumentation()] })
sdk.start()

const { trace } = require('@opentelemetry/api')
const { inSpan, run, show } = require('./support.js')

const tracer = trace.getTracer('support')

const getWeather = call => inSpan(tracer, `execute_tool ${call.function.name}`, {
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': call.function.name,
  'gen_ai.tool.call.id': call.id,
  'gen_ai.tool.call.arguments': call.function.arguments,
}, async span => {
  span.setAttribute('gen_ai.tool.call.result', '{"sky":"sunny"}')
  return '{"sky":"sunny"}'
})

async function main() {
  const ids = await run(tracer, getWeather, {
    'gen_ai.conversation.id': 'conversation-1', 'user.id': 'user-1', 'gen_ai.agent.name': 'support',
  })
  await sdk.shutdown().catch(console.error) // it sends what is left, and says what was refused
  await show(ids)
}

main()
