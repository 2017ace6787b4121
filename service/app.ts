import { fileURLToPath } from 'node:url'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginCallback,
  LogController,
} from 'fastify'
import { buildGuards } from './auth/guard.ts'
import { readJsonBodies } from './http/body.ts'
import { type Config } from './config.ts'
import { readContract } from './contract/contract.ts'
import { serveDocs } from './contract/docs.ts'
import { answerError } from './http/errors.ts'
import { begin, refuse } from './http/request-log.ts'
import { removeCharset, requestId } from './http/headers.ts'
import { checkProtocol, serverOptions, takeOverFromNode } from './http/server.ts'
import { answerUnrouted } from './http/methods.ts'
import { Gate } from './http/admission.ts'
import { PlantService } from './plant-service.ts'
import { addRoutes } from './contract/routes.ts'
import type { Store } from './store/store.ts'
import { Traffic } from './http/traffic.ts'
import { validatorCompiler } from './contract/validation.ts'
import { reasonOf, StartupError } from './errors.ts'
import { ownTokenChecker } from './auth/own-tokens.ts'

/** The contract of this service. */
export const CONTRACT = fileURLToPath(import.meta.resolve('../openapi.yaml'))

interface Parts {
  readonly config: Config
  readonly store: Store
  readonly log: FastifyBaseLogger
  /** The file of the contract. */
  readonly contract?: string
  /** What is to see each request. */
  readonly plugin?: FastifyPluginCallback
  /** Whether operations may have no method yet; they are then answered 501. */
  readonly draft?: boolean
}

/**
 * Builds the server from the contract, ready to listen. The store is not closed with it.
 * @throws {StartupError} if the contract and the code do not fit
 */
export async function buildApp({ config, store, log, ...of }: Parts): Promise<FastifyInstance> {
  const contract = readContract(of.contract ?? CONTRACT, config.BASE_URL)
  const traffic = new Traffic()
  const gate = new Gate(log, traffic)
  const app = Fastify({
    ...serverOptions(config),
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId,
    // A logger for each request would cost more than its one line, which has the id of the request.
    childLoggerFactory: (logger) => logger,
    frameworkErrors: (error, request, reply) => {
      begin(request, reply)
      answerError(error, request, reply)
    },
    clientErrorHandler: (error, socket) => gate.pass(() => refuse(error, socket, app)),
  })

  app.decorate('traffic', traffic)
  app.decorate('gate', gate)
  if (of.plugin) await app.register(of.plugin)
  takeOverFromNode(app, config.MAX_CONNECTIONS)
  app.decorate('answerTimeout', config.ANSWER_TIMEOUT * 1000)
  app.decorateRequest('caller', '')
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply)
    done()
  })
  app.addHook('onRequest', checkProtocol)
  app.addHook('onSend', removeCharset)
  answerUnrouted(app)
  app.setErrorHandler(answerError)
  app.setValidatorCompiler(validatorCompiler())
  readJsonBodies(app)

  // It is loaded where it is needed only, for the service to start fast.
  const checkJwt = config.JWT_ISSUER === '' ? undefined : (await import('./auth/jwt.ts')).jwtChecker(app, config)
  const checkOwn = ownTokenChecker(store)
  const makeGuard = await buildGuards(app, checkOwn, checkJwt)
  try {
    await addRoutes(app, contract, new PlantService(store), makeGuard, of.draft)
    serveDocs(app, contract, config)
    await app.ready()
  } catch (error) {
    throw new StartupError(`${contract.file}: ${reasonOf(error)}`, { cause: error })
  }
  return app
}

/** Listens where the configuration says. @throws {StartupError} naming the host and the port */
export async function listen(app: FastifyInstance, { HOST, PORT }: Config): Promise<void> {
  await app.listen({ host: HOST, port: PORT }).catch((error: unknown) => {
    throw new StartupError(`HOST ${HOST}, PORT ${PORT}: ${reasonOf(error)}`)
  })
}
