// The application, watched by OpenInference's instrumentation. The exporter is
// the one that sends JSON.
const { NodeSDK } = require('@opentelemetry/sdk-node')
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http')
const { OpenAIInstrumentation } = require('@arizeai/openinference-instrumentation-openai')

const sdk = new NodeSDK({ traceExporter: new OTLPTraceExporter(), instrumentations: [new OpenAIInstrumentation()] })
sdk.start()

const { trace } = require('@opentelemetry/api')
const { inSpan, run, show } = require('./support.js')

const tracer = trace.getTracer('support')

const getWeather = call => inSpan(tracer, 'get_weather', {
  'openinference.span.kind': 'TOOL',
  'tool.name': call.function.name,
  'input.value': call.function.arguments,
  'input.mime_type': 'application/json',
}, async span => {
  span.setAttributes({ 'output.value': '{"sky":"sunny"}', 'output.mime_type': 'application/json' })
  return '{"sky":"sunny"}'
})

async function main() {
  const ids = await run(tracer, getWeather, {
    'openinference.span.kind': 'AGENT', 'agent.name': 'support', 'session.id': 'conversation-1', 'user.id': 'user-1',
  })
  await sdk.shutdown().catch(console.error) // it sends what is left, and says what was refused
  await show(ids)
}

main()
