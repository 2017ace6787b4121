import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'

/** Seconds that a browser may keep the answer to a preflight. */
const PREFLIGHT_TTL = 600

/**
 * Lets browser applications of other origins call a server (https://fetch.spec.whatwg.org/#http-cors-protocol), without
 * cookies. To be called before `answerOtherMethods`, whose routes answer OPTIONS.
 * @param origins such as `https://app.example`
 * @param methods those of all paths
 */
export async function allowOrigins(
  app: FastifyInstance,
  origins: readonly string[],
  methods: readonly string[],
): Promise<void> {
  await app.register(cors, {
    // Any other origin gets no header, and its browser refuses the answer.
    origin: (origin, done) => done(null, origin !== undefined && origins.includes(origin)),
    methods: [...methods],
    allowedHeaders: ['Authorization', 'Content-Type', 'X-Request-Id'],
    exposedHeaders: ['Link', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
    maxAge: PREFLIGHT_TTL,
    preflightContinue: true,
    strictPreflight: false,
  })
}
