import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance, FastifyPluginCallback } from 'fastify'
import { buildGuards } from './auth/guard.ts'
import { ownTokenChecker } from './auth/own-tokens.ts'
import { TOKEN_TEXT } from './auth/token-form.ts'
import { type Config } from './config.ts'
import { readContract } from './contract/contract.ts'
import { serveDocs } from './contract/docs.ts'
import { checkBody } from './contract/bodies.ts'
import { addRoutes, type OperationHooks } from './contract/routes.ts'
import { requireCaller } from './contract/security.ts'
import { reasonOf, StartupError } from './errors.ts'
import { removeBodyReaders } from './http/body.ts'
import { answerOtherMethods, checkPath } from './http/methods.ts'
import { Counter } from './http/metrics.ts'
import { removeCharset } from './http/headers.ts'
import { startRequest } from './http/open-requests.ts'
import { askForBody, checkProtocol, checkQuery } from './http/protocol.ts'
import { logRequests } from './http/request-log.ts'
import { makeServer } from './http/server.ts'
import { PlantService } from './plant-service.ts'
import type { Store } from './store/store.ts'

/** The contract of this service. */
export const CONTRACT = fileURLToPath(import.meta.resolve('../openapi.yaml'))

const SHED = new Counter({ name: 'plants_shed_requests_total', help: 'Requests refused because there were too many' })
const REFUSED = new Counter({
  name: 'plants_refused_authentications_total',
  help: 'Requests answered 401',
  labelNames: ['reason'],
})

/** What an app is made of. */
export interface Parts {
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
  const contract = await readContract(of.contract ?? CONTRACT, config.BASE_URL)
  const app = makeServer({
    config,
    log,
    maxConnections: config.MAX_CONNECTIONS,
    secret: TOKEN_TEXT,
    onTooBusy: () => SHED.inc(),
  })
  logRequests(app)
  if (of.plugin) await app.register(of.plugin)
  removeBodyReaders(app)

  // It is loaded where it is needed only, for the service to start fast.
  const checkJwt = config.JWT_ISSUER === '' ? undefined : (await import('./auth/jwt.ts')).jwtChecker(app, config)
  const makeGuard = await buildGuards(app, ownTokenChecker(store), checkJwt)

  // The hooks, in their order. The first that refuses a request is its answer.
  // Every request passes these, also that of an unknown path:
  app.addHook('onRequest', startRequest) // whatever refuses it, it has its headers and its line in the log
  if (config.CORS_ORIGINS.length > 0) {
    const { allowOrigins } = await import('./http/cors.ts')
    await allowOrigins(app, config.CORS_ORIGINS, [...new Set(contract.operations.map(({ method }) => method))])
  }
  app.addHook('onRequest', checkProtocol) // before anything believes what its headers say
  app.addHook('onRequest', checkPath) // the cheapest refusal; nobody needs a token to learn what is not there
  const otherMethods = answerOtherMethods(app) // the same for a method
  app.addHook('onSend', removeCharset)
  // Then those of an operation pass these:
  const hooks: OperationHooks = ({ security, body }) => ({
    onRequest: [
      requireCaller(security, makeGuard, (reason) => REFUSED.inc({ reason })), // 401 before anything else is judged
      checkQuery, // the router takes what is not UTF-8
      ...(body ? [checkBody(body)] : []), // 415 and 413 before a byte of the body is read
    ],
    preParsing: body ? [askForBody] : [], // the last one: now the body is wanted
  })

  try {
    await addRoutes(app, contract, new PlantService(store), hooks, of.draft)
    serveDocs(app, contract, config)
    otherMethods()
    await app.ready()
  } catch (error) {
    throw new StartupError(`${contract.file}: ${reasonOf(error)}`, { cause: error })
  }
  return app
}
