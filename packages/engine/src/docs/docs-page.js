// The script of the docs page. Before it run Swagger UI, js-yaml, and `pathOfServer` of servers.ts.

// JavaScript rounds integers beyond 2^53. Here each of them is a bigint, which is shown and sent
// with all its digits.
const INTEGER = /^([-+]?\d+|0[box][\da-f]+)$/i
const isRounded = (value) => Number.isInteger(value) && !Number.isSafeInteger(value)
const toExact = (value, source) =>
  isRounded(value) && INTEGER.test(source) ? BigInt(source) : value

const { parse, rawJSON } = JSON
// A number such as 1e30 or 9007199254740993.0 is no integer of YAML: it is kept as it is written.
const keepExact = (_, value, { source } = {}) => {
  const exact = toExact(value, source)
  return isRounded(exact) ? rawJSON(source) : exact
}
JSON.parse = (text, revive = keepExact) => parse(text, revive)
BigInt.prototype.toJSON = function () {
  return rawJSON(String(this))
}

const { int } = jsyaml.types
const exactInt = new jsyaml.Type(int.tag, {
  kind: 'scalar',
  resolve: int.resolve,
  construct: (text) => toExact(int.construct(text), text),
})
const schema = jsyaml.JSON_SCHEMA.extend({ implicit: [exactInt] })

/** Reads the document. Its only servers are this service: the page may not send to any other. */
function readDocument(text) {
  const contract = jsyaml.load(text, { schema })
  const here = new URL('..', location.href).href.replace(/\/$/, '')
  const serveHere = (part) => {
    const [server] = part.servers ?? []
    part.servers = [{ url: here + (server === undefined ? '' : pathOfServer(server)) }]
  }
  serveHere(contract)
  addTokenFields(contract)
  const items = [contract.paths, contract.components?.pathItems].flatMap((all) =>
    Object.values(all ?? {}),
  )
  for (const part of items.flatMap((item) => [item, ...Object.values(item)]))
    if (part?.servers !== undefined) serveHere(part)
  return contract
}

/** The target of a reference, and of the references that it leads to: all are in the document. */
function follow(contract, node, seen = []) {
  if (typeof node?.$ref !== 'string' || seen.includes(node)) return node
  const names = decodeURIComponent(node.$ref).split('/').slice(1)
  const keys = names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const target = keys.reduce((value, key) => value?.[key], contract)
  return follow(contract, target, [...seen, node])
}

/** Where a person can sign in, they can paste a token, too: a scheme beside each one that signs in. */
function addTokenFields(contract) {
  const schemes = contract.components?.securitySchemes ?? {}
  for (const [name, scheme] of Object.entries(schemes)) schemes[name] = follow(contract, scheme)
  const signIn = Object.keys(schemes).filter((name) =>
    /^(oauth2|openIdConnect)$/.test(schemes[name]?.type),
  )
  const fieldOf = (name) => `${name} (token)`
  for (const name of signIn)
    schemes[fieldOf(name)] = {
      type: 'http',
      scheme: 'bearer',
      description: 'Paste a token, if you have one.',
    }
  const withFields = (alternative) => {
    const entries = Object.entries(alternative)
    if (!entries.some(([name]) => signIn.includes(name))) return [alternative]
    const pasted = entries.map(([name, scopes]) =>
      signIn.includes(name) ? [fieldOf(name), []] : [name, scopes],
    )
    return [alternative, Object.fromEntries(pasted)]
  }
  const operations = Object.values(contract.paths ?? {}).flatMap((item) =>
    Object.values(item ?? {}),
  )
  for (const part of [contract, ...operations])
    if (Array.isArray(part?.security)) part.security = part.security.flatMap(withFields)
}

/** Swagger UI resolves references with a library that has no bigint: there each of them is a text. */
const MARK = '\uE000bigint '
const toText = (_, value, { source } = {}) =>
  typeof toExact(value, source) === 'bigint' ? MARK + source : value
const fromText = (_, value) =>
  typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value
const copy = (value, revive) => parse(JSON.stringify(value), revive)
/** The document with texts. There is one, because that library prepares it: it gives operations the parameters of their path. */
let withTexts

/** React 18 leaves a field empty whose value is a bigint. */
const toFields = (value) =>
  typeof value === 'bigint' ? String(value) : (value?.map?.(toFields) ?? value)

/** Of the bounds of a schema, Swagger UI shows only those that are a number. */
const BOUNDS = {
  minimum: '≥',
  exclusiveMinimum: '>',
  maximum: '≤',
  exclusiveMaximum: '<',
  multipleOf: 'multiple of',
}
const exactBounds = (schema) =>
  Object.entries(BOUNDS)
    .filter(([name]) => typeof schema?.[name] === 'bigint')
    .map(([name, sign]) => ({ scope: 'number', value: `${sign} ${schema[name]}` }))

const exactPlugin = ({ fn: { resolveSubtree } }) => ({
  fn: {
    resolveSubtree: async (contract, ...others) => {
      withTexts ??= copy(contract, toText)
      return copy(await resolveSubtree(withTexts, ...others), fromText)
    },
  },
  wrapComponents: {
    JsonSchemaForm:
      (Form, { React }) =>
      (props) => {
        return React.createElement(Form, { ...props, value: toFields(props.value) })
      },
    JSONSchema202012:
      (Schema, { React, fn }) =>
      (props) => {
        const functions = fn.jsonSchema202012.useFn() // those of the schemas on this part of the page
        functions.usualConstraints ??= functions.stringifyConstraints
        functions.stringifyConstraints = (schema) => [
          ...exactBounds(schema),
          ...functions.usualConstraints(schema),
        ]
        return React.createElement(Schema, props)
      },
  },
  statePlugins: {
    spec: {
      wrapActions: {
        parseToJson:
          (_, { specActions }) =>
          (text) => {
            return specActions.updateJsonSpec(readDocument(text))
          },
      },
    },
  },
})

/** The streams of events that are open, by method and path: each has a function that ends it. */
const streams = new Map()
/** The most characters of a stream that are shown: the last ones. */
const MAX_SHOWN = 100_000

/** Fetches an answer. If it is a stream of events, each is shown as it comes, until the stream ends or a person stops it. */
async function fetchLive(url, options, key, show) {
  const controller = new AbortController()
  const response = await fetch(url, { ...options, signal: controller.signal })
  const { body, headers, ok, status, statusText } = response
  if (body === null || !/^text\/event-stream/i.test(headers.get('content-type'))) return response
  const answer = { ok, status, statusText, url: response.url, headers: Object.fromEntries(headers) }
  let text = ''
  streams.get(key)?.()
  const stop = () => controller.abort()
  streams.set(key, stop)
  try {
    show({ ...answer, text, data: text })
    for await (const part of body.pipeThrough(new TextDecoderStream())) {
      text = (text + part).slice(-MAX_SHOWN)
      show({ ...answer, text, data: text })
    }
  } catch (error) {
    if (!controller.signal.aborted) throw error
  } finally {
    if (streams.get(key) === stop) streams.delete(key)
  }
  return new Response(text, { status, statusText, headers })
}

const eventsPlugin = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        executeRequest:
          (execute, { specActions }) =>
          (request) => {
            const { method, pathName } = request
            const show = (answer) => specActions.setResponse(pathName, method, answer)
            const userFetch = (url, options) =>
              fetchLive(url, options, `${method} ${pathName}`, show)
            return execute({ ...request, userFetch })
          },
      },
    },
  },
  wrapComponents: {
    liveResponse:
      (Answer, { React }) =>
      (props) => {
        const stop = streams.get(`${props.method} ${props.path}`)
        const answer = React.createElement(Answer, props)
        if (stop === undefined) return answer
        const button = { className: 'btn stop-events', onClick: stop }
        return React.createElement('div', {}, React.createElement('button', button, 'Stop'), answer)
      },
  },
})

if (matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.add('dark-mode')
const page = SwaggerUIBundle({
  dom_id: '#page',
  url: '../openapi.yaml',
  deepLinking: true,
  validatorUrl: null,
  plugins: [exactPlugin, eventsPlugin],
  oauth2RedirectUrl: new URL('oauth2-redirect.html', location.href).href,
})
// The code of a sign-in is of use only to who has asked for it (RFC 7636).
page.initOAuth({ usePkceWithAuthorizationCodeGrant: true })
