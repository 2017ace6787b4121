import { fileURLToPath } from 'node:url'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { buildGuards } from './auth.ts'
import { readJsonBodies } from './body.ts'
import type { Config } from './config.ts'
import { readContract } from './contract.ts'
import { serveDocs } from './docs.ts'
import { answerError, HttpError } from './errors.ts'
import { begin, refuse } from './exchange.ts'
import { requestId } from './headers.ts'
import { checkProtocol, serverOptions, takeOverFromNode } from './http.ts'
import { answerUnrouted } from './methods.ts'
import { PlantService } from './plant-service.ts'
import { addRoutes } from './routes.ts'
import type { Store } from './store.ts'
import { callerOf } from './token.ts'
import { validatorCompiler } from './validation.ts'

/** The contract of this service. */
export const CONTRACT = fileURLToPath(import.meta.resolve('../openapi.yaml'))

/**
 * Builds the server from the contract, ready to listen.
 * @param parts the store is not closed with the server
 * @throws {StartupError} if the contract and the code do not fit
 */
export async function buildApp(parts: {
  readonly config: Config
  readonly store: Store
  readonly log: FastifyBaseLogger
}): Promise<FastifyInstance> {
  const { config, store, log } = parts
  const contract = readContract(CONTRACT, config.BASE_URL)
  const app = Fastify({
    ...serverOptions(config),
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    frameworkErrors: async (error, request, reply) => {
      await begin(request, reply)
      answerError(error, request, reply)
    },
    clientErrorHandler: (error, socket) => refuse(error, socket, log),
  })

  takeOverFromNode(app)
  app.decorateRequest('caller', '')
  app.addHook('onRequest', begin)
  app.addHook('onRequest', checkProtocol)
  answerUnrouted(app)
  app.setErrorHandler(answerError)
  app.setNotFoundHandler(() => Promise.reject(new HttpError(404, 'There is no such path')))
  app.setValidatorCompiler(validatorCompiler())
  readJsonBodies(app)

  const guards = await buildGuards(app, (token) => callerOf(store, token))
  await addRoutes(app, contract, new PlantService(store), guards)
  await serveDocs(app, contract, config.BASE_URL)
  await app.ready()
  return app
}
