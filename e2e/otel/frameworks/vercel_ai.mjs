// Vercel's AI SDK, which describes itself to OpenTelemetry if it is asked to.

// setup
import { NodeSDK } from '@opentelemetry/sdk-node'

const sdk = new NodeSDK()
sdk.start()

const telemetry = {
  isEnabled: true,
  functionId: 'answer question',
  metadata: { sessionId: 'conversation-2', userId: 'user-2', tags: ['e2e'], plan: 'pro' },
}
// end

import { createOpenAI } from '@ai-sdk/openai'
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL })
await generateText({
  model: openai('gpt-4o-mini'),
  prompt: 'How is the weather in Lisbon?',
  tools: {
    get_weather: tool({
      description: 'Tells the weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: async () => ({ sky: 'sunny' }),
    }),
  },
  stopWhen: stepCountIs(3),
  experimental_telemetry: telemetry,
})
await sdk.shutdown()
