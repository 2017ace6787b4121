import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance, FastifyPluginCallback } from 'fastify'
import { accessTokenChecker, accessTokens } from './auth/access-tokens.ts'
import { buildGuards } from './auth/guard.ts'
import type { Config } from './config.ts'
import { checkBody } from './operation/input/bodies.ts'
import { openCollections } from './contract/collections.ts'
import { commonErrors } from './contract/common-errors.ts'
import { takesAnyId } from './contract/error-trials.ts'
import { type Contract, type LoadCompiler, readContract } from './contract/contract.ts'
import { serveDocs } from './docs/docs.ts'
import { errorWriter } from './contract/error-forms.ts'
import { addFaultyOperations, addRoutes, type OperationSteps } from './operation/routes.ts'
import { requireCaller } from './auth/security.ts'
import { hooksAt, type Opened, type Product } from './define-product.ts'
import { reasonOf, StartupError } from './errors.ts'
import { allowOrigins } from './http/cors.ts'
import {
  answerOtherMethods,
  checkFraming,
  checkPath,
  checkQuery,
  inOrder,
  startRequest,
} from './http/request-steps.ts'
import { otherSiteCheck } from './http/other-sites.ts'
import { makeServer } from './http/server.ts'
import type { Store } from './store.ts'

/** The parts that an app is built from. */
export interface AppParts {
  readonly product: Product
  readonly config: Config
  /** Absent if the product has none. */
  readonly store?: Store | undefined
  /** What is the product's own. */
  readonly opened?: Opened | undefined
  readonly log: FastifyBaseLogger
  /** A plugin that sees each request, such as a tracer. */
  readonly plugin?: FastifyPluginCallback | undefined
  /** A contract that is still being written, instead of the product's. An operation without a method is answered 501. */
  readonly draft?: Contract | undefined
  /** For a contract that has changed since it was generated. */
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
}: AppParts): Promise<FastifyInstance> {
  const contract = draft ?? (await readProduct(product, config, loadCompiler))
  const writeError = errorWriter(commonErrors(contract, product), product)
  const app = makeServer({
    config,
    log,
    maxConnections: config.MAX_CONNECTIONS,
    writeError,
    takesAnyId: takesAnyId(contract, product),
    isMeasured: true,
  })
  app.decorate('contract', contract)
  if (plugin) await app.register(plugin)

  const checkAccessToken = store
    ? accessTokenChecker(product.tokenPrefix, accessTokens(store))
    : () => ({ refused: 'unknown' }) as const
  // Imported only where it is needed, so that the service starts faster.
  const checkJwt =
    config.JWT_ISSUER === '' ? undefined : (await import('./auth/jwt.ts')).jwtChecker(app, config)
  const makeGuard = await buildGuards(app, {
    realm: product.name,
    guards: product.guards,
    timeout: config.REQUEST_TIMEOUT,
    checkAccessToken,
    checkJwt,
  })

  // The steps run in this order. The first one that refuses a request answers it.
  // For every request, also one of an unknown path:
  await allowOrigins(app, config.CORS_ORIGINS, contract) // a browser shows a refusal only with its headers
  const ofRequest = [
    startRequest, // sets the headers of every response
    checkFraming, // 400, 417, 431, 501 before the other steps trust a header
    checkPath, // 404, 405 and OPTIONS; they need no token
  ]
  app.addHook('onRequest', inOrder(ofRequest))
  const addOtherMethods = answerOtherMethods(app) // for checkPath
  const isFromOtherSite = otherSiteCheck(config.CORS_ORIGINS, config.BASE_URL)
  // Then for the requests of an operation:
  const stepsOf: OperationSteps = ({ security, body }) => [
    requireCaller(security, makeGuard, isFromOtherSite), // 401 and 403 before the other checks
    checkQuery, // 400
    ...(body ? [checkBody(body)] : []), // 415 and 413 before the client sends the body
  ]

  try {
    const isDraft = draft !== undefined
    const collections = store ? openCollections(store, contract, isDraft) : {}
    const services = product.services(collections, opened)
    await addRoutes(app, contract, { services, stepsOf, isDraft })
    serveDocs(app, contract, config)
    addFaultyOperations(app, contract)
    addOtherMethods()
    await app.ready()
  } catch (error) {
    throw new StartupError(`${contract.file}: ${reasonOf(error)}`, { cause: error })
  }
  return app
}

function readProduct(product: Product, config: Config, loadCompiler?: LoadCompiler) {
  const { contract: generated } = product
  const hooks = hooksAt(product, config)
  const options = { baseUrl: config.BASE_URL, generated, product: hooks, loadCompiler }
  return readContract(fileURLToPath(generated.file), options)
}
