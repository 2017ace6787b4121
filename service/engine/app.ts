import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance, FastifyPluginCallback } from 'fastify'
import { accessTokens } from './auth/access-tokens.ts'
import { accessTokenChecker, buildGuards } from './auth/guard.ts'
import type { Config } from './config.ts'
import { checkBody } from './contract/bodies.ts'
import { type Contract, type LoadCompiler, readContract } from './contract/contract.ts'
import { serveDocs } from './contract/docs.ts'
import { commonErrorWriter } from './contract/error-forms.ts'
import { itemReader, itemWriter } from './contract/items.ts'
import { addFaultyOperations, addRoutes, type OperationHooks } from './contract/routes.ts'
import { requireCaller } from './contract/security.ts'
import { extensionsAt, type Product } from './define-product.ts'
import { reasonOf, StartupError } from './errors.ts'
import { allowOrigins } from './http/cors.ts'
import { startRequest } from './http/open-requests.ts'
import { answerOtherMethods, checkFraming, checkPath, checkQuery } from './http/request-rules.ts'
import { makeServer } from './http/server.ts'
import type { Store } from './store.ts'

/** The parts that an app is built from. */
interface Parts {
  readonly product: Product
  readonly config: Config
  /** Absent if the product has none. */
  readonly store?: Store | undefined
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
  log,
  plugin,
  draft,
  loadCompiler,
}: Parts): Promise<FastifyInstance> {
  const contract = draft ?? (await readProduct(product, config, loadCompiler))
  const writeError = commonErrorWriter(contract, product)
  const app = makeServer({
    config,
    log,
    maxConnections: config.MAX_CONNECTIONS,
    writeError,
    isMeasured: true,
  })
  app.decorate('contract', contract)
  if (plugin) await app.register(plugin)

  const checkAccessToken = store
    ? accessTokenChecker(product.tokenPrefix, accessTokens(store))
    : () => ({ refused: 'unknown' }) as const
  // Loaded only where it is needed: the service starts faster.
  const checkJwt =
    config.JWT_ISSUER === '' ? undefined : (await import('./auth/jwt.ts')).jwtChecker(app, config)
  const guards = { ...product, timeout: config.REQUEST_TIMEOUT }
  const makeGuard = await buildGuards(app, product.name, guards, checkAccessToken, checkJwt)

  // The hooks run in this order. The first one that refuses a request answers it.
  // For every request, also one of an unknown path:
  app.addHook('onRequest', startRequest) // sets the headers of every response, so it is the first
  await allowOrigins(app, config.CORS_ORIGINS, contract) // a browser shows a refusal only with these headers
  app.addHook('onRequest', checkFraming) // 400, 417, 431, 501 before the other hooks trust a header
  app.addHook('onRequest', checkPath) // 404, 405 and OPTIONS; they need no token
  const addOtherMethods = answerOtherMethods(app) // for checkPath
  // Then for the requests of an operation:
  const hooks: OperationHooks = ({ security, body }) => ({
    onRequest: [
      requireCaller(security, makeGuard), // 401 before the other checks
      checkQuery, // 400
      ...(body ? [checkBody(body)] : []), // 415 and 413 before the client sends the body
    ],
  })

  try {
    const isDraft = draft !== undefined
    const collections = store ? openCollections(store, product, contract, isDraft) : {}
    await addRoutes(app, contract, product.services(collections), hooks, isDraft)
    serveDocs(app, contract, config)
    addFaultyOperations(app, contract)
    addOtherMethods()
    await app.ready()
  } catch (error) {
    throw new StartupError(`${contract.file}: ${reasonOf(error)}`, { cause: error })
  }
  return app
}

/** The collections of a product, by name. @throws {Error} if the contract lacks the schema of one, unless it is a draft */
function openCollections(
  store: Store,
  product: Product,
  contract: Contract,
  isDraft: boolean,
): Readonly<Record<string, unknown>> {
  const collections = Object.entries(product.collections).map(([name, { schema }]) => {
    if (!Object.hasOwn(contract.items, schema) && !isDraft)
      throw new Error(`the collection ${name} needs the schema ${schema} in components/schemas`)
    const [parse, write] = [itemReader(contract, schema), itemWriter(contract, schema)]
    return [name, store.collection(name, { parse, write })] as const
  })
  return Object.fromEntries(collections)
}

function readProduct(product: Product, config: Config, loadCompiler?: LoadCompiler) {
  const { contract: generated } = product
  const extensions = extensionsAt(product, config)
  const options = { baseUrl: config.BASE_URL, generated, product: extensions, loadCompiler }
  return readContract(fileURLToPath(generated.file), options)
}
