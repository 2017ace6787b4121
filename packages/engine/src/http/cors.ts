// Lets browser applications of other origins call the operations (CORS).
import type { FastifyInstance } from 'fastify'

/**
 * Lets browser applications of these origins call the operations of a contract, without cookies
 * (https://fetch.spec.whatwg.org/#http-cors-protocol). To be called before `checkRequest` is added,
 * which answers OPTIONS.
 */
export async function allowOrigins(
  app: FastifyInstance,
  origins: readonly string[],
  { operations }: { readonly operations: readonly { readonly method: string }[] },
): Promise<void> {
  if (origins.length === 0) return
  const { default: cors } = await import('@fastify/cors')
  await app.register(cors, {
    // Other origins get no header: their browsers hide the answer from the application.
    origin: (origin, done) => done(null, origin !== undefined && origins.includes(origin)),
    methods: [...new Set(operations.map(({ method }) => method))],
    allowedHeaders: ['Authorization', '*'], // * does not include Authorization
    exposedHeaders: '*',
    maxAge: 600, // seconds for which a browser may keep the answer to a preflight
    preflightContinue: true,
    strictPreflight: false,
  })
}
