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
  const items = [contract.paths, contract.components?.pathItems].flatMap((all) =>
    Object.values(all ?? {}),
  )
  for (const part of items.flatMap((item) => [item, ...Object.values(item)]))
    if (part?.servers !== undefined) serveHere(part)
  return contract
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

if (matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.add('dark-mode')
SwaggerUIBundle({
  dom_id: '#page',
  url: '../openapi.yaml',
  deepLinking: true,
  validatorUrl: null,
  plugins: [exactPlugin],
})
