// Builds the server of a product: its parts, in order.
import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance, FastifyPluginCallback } from 'fastify'
import { AccessTokenChecker, accessTokens } from './auth/access-tokens.ts'
import { buildGuards, type TokenChecker } from './auth/guard.ts'
import type { Config } from './config.ts'
import { openCollections } from './contract/collections.ts'
import { commonErrors } from './contract/common-errors.ts'
import { takesAnyId } from './contract/error-trials.ts'
import { type Contract, type LoadCompiler, readContract } from './contract/contract.ts'
import { serveDocs } from './docs/docs.ts'
import { errorWriter } from './contract/error-forms.ts'
import { addFaultyOperations, addRoutes, type AuthorizerOf } from './operation/routes.ts'
import { Authorizer } from './auth/security.ts'
import { hooksAt, type Opened, type Product } from './define-product.ts'
import { reasonOf, StartupError } from './errors.ts'
import { allowOrigins } from './http/cors.ts'
import { otherSiteCheck } from './http/other-sites.ts'
import { answerOtherMethods } from './http/other-methods.ts'
import { checkRequest } from './http/protocol.ts'
import { HttpServer } from './http/server.ts'
import type { Store } from './store.ts'

export interface AppParts {
  readonly product: Product
  readonly config: Config
  /** Absent if the product has none. */
  readonly store?: Store | undefined
  /** The resources of the product. */
  readonly opened?: Opened | undefined
  readonly log: FastifyBaseLogger
  /** A plugin for each request, such as a tracer. */
  readonly plugin?: FastifyPluginCallback | undefined
  /** As read by {@link readProduct}, if it is read already. */
  readonly contract?: Contract | undefined
  /** A contract in the making, instead of the product's. An operation without a method is answered 501. */
  readonly draft?: Contract | undefined
  /** For a contract changed since it was generated. */
  readonly loadCompiler?: LoadCompiler | undefined
}

/**
 * Builds the server from the contract, ready to listen. Closing it does not close the store.
 * @throws {StartupError} if the contract and the code do not fit
 */
export async function buildApp({
  product,
  config,
  store,
  opened = {},
  log,
  plugin,
  draft,
  loadCompiler,
  contract: read = draft,
}: AppParts): Promise<FastifyInstance> {
  const contract = read ?? (await readProduct(product, config, loadCompiler))
  const writeError = errorWriter(commonErrors(contract, product), product)
  const { app } = new HttpServer({
    config,
    log,
    maxConnections: config.MAX_CONNECTIONS,
    writeError,
    takesAnyId: takesAnyId(contract, product),
    isMeasured: true,
  })
  app.decorate('contract', contract)
  if (plugin) await app.register(plugin)

  const makeGuard = await buildGuards(app, {
    realm: product.name,
    guards: product.guards,
    timeout: config.REQUEST_TIMEOUT,
    accessTokens: accessTokenChecker(product, store),
    jwts: await jwtChecker(app, config),
  })

  // What a request passes, in order. The first to refuse it answers it.
  // Every request, also one of an unknown path:
  await allowOrigins(app, config.CORS_ORIGINS, contract) // a browser shows a refusal only with its headers
  app.addHook('onRequest', checkRequest) // 400, 404, 405, 417, 431, 501 and OPTIONS: they need no token
  const addOtherMethods = answerOtherMethods(app)
  // Then the requests of an operation, whose other stages are in operation/operation.ts:
  const isFromOtherSite = otherSiteCheck(config.CORS_ORIGINS, config.BASE_URL)
  const authorizerOf: AuthorizerOf = ({ security }) =>
    new Authorizer(security, makeGuard, isFromOtherSite) // 401, 403 before all other checks

  try {
    const isDraft = draft !== undefined
    const collections = store ? openCollections(store, contract, isDraft) : {}
    const services = product.services(collections, opened)
    await addRoutes(app, contract, { services, authorizerOf, isDraft })
    serveDocs(app, contract, config)
    addFaultyOperations(app, contract)
    addOtherMethods()
    await app.ready()
  } catch (error) {
    throw new StartupError(`${contract.file}: ${reasonOf(error)}`, { cause: error })
  }
  return app
}

/** Without a store there are no access tokens. */
function accessTokenChecker({ tokenPrefix }: Product, store: Store | undefined): TokenChecker {
  if (store === undefined) return { check: () => ({ refused: 'unknown' }) }
  return new AccessTokenChecker(tokenPrefix, accessTokens(store))
}

/** Imported only where it is needed: the service starts faster. */
async function jwtChecker(app: FastifyInstance, config: Config): Promise<TokenChecker | undefined> {
  if (config.JWT_ISSUER === '') return undefined
  const { JwtChecker } = await import('./auth/jwt.ts')
  return new JwtChecker(app, config)
}

/** Reads the contract of a product. @throws {StartupError} */
export function readProduct(product: Product, config: Config, loadCompiler?: LoadCompiler) {
  const { contract: generated } = product
  const hooks = hooksAt(product, config)
  const options = { baseUrl: config.BASE_URL, generated, product: hooks, loadCompiler }
  return readContract(fileURLToPath(generated.file), options)
}
