// A stranger's document: each of its strings tries to become code.

/** Strings that end a string, a comment or a line of a language, and then call `owned`. */
export const HOSTILE: Readonly<Record<string, string>> = {
  quotes: `a'"\`); owned(); //`,
  'quotes and escapes': `a\\'+owned()+\\"+owned()+\\\`\${owned()}`,
  'one kind of quotes': `a'+owned()+'`,
  comments: 'a*/ owned() /*',
  'a line feed': 'a\nowned() //',
  'a carriage return': 'a\rowned() //',
  'a separator of lines': 'a\u2028owned() //',
  'a separator of paragraphs': 'a\u2029owned() //',
  'a line feed and a brace': 'a\n} static { owned() } /*',
  'an order to the compiler': '@ts-expect-error owned()',
  'the name of a type': 'Mark<owned> | Visible<owned>',
  'a text of another direction': 'a\u202e//owned()',
  markup: '[a](https://owned.example) ![b](https://owned.example) <b> `c`',
  'a command': "a'; owned; $(owned) `owned` && owned",
  'a part of a policy': 'owned;script-src *,owned',
  'an expression': 'new Date().toISOString()',
  'a literal': 'false',
  'a word of the language': 'class',
  'a name of the request': 'body',
  'the prototype': '__proto__',
  'a long text': 'owned()'.repeat(2000),
}

const TEXT = { type: 'string' }
const JSON_TYPE = 'application/json'

/** The places with a grammar: many strings are refused there. */
export const GRAMMAR =
  /^(an operationId|a pattern|a status|a media type|a segment of a path|a scope|the name of a (parameter in a path|scheme of HTTP))$/

/** The values of the places without a hostile string. */
const USUAL: Readonly<Record<string, string>> = {
  'the title': 'Small',
  'the name of a schema': 'Thing',
  'the name of a parameter in a path': 'id',
  'the name of a parameter in a query': 'limit',
  'the name of a header': 'X-Key',
  'the name of a header of a response': 'X-Count',
  'the name of a guarded scheme': 'login',
  'the name of a scheme': 'token',
  'the name of a scheme of HTTP': 'basic',
  'the host of a provider': 'login.example',
  'a media type': JSON_TYPE,
  'a status': '200',
  'a server': '/',
  'a segment of a path': 'x',
  'a pattern': '.',
}

/**
 * Writes a document.
 * @param text the hostile string
 * @param isPut whether a place gets the string: it is called with the name of each place
 */
export function documentWith(text: string, isPut: (place: string) => boolean): string {
  const at = (place: string) => (isPut(place) ? text : (USUAL[place] ?? 'usual'))
  const schema = at('the name of a schema')
  const parameter = at('the name of a parameter in a path')
  const guarded = at('the name of a guarded scheme')
  const token = `${at('the name of a scheme')}2`
  const reference = `#/components/schemas/${encodeURIComponent(schema.replaceAll('~', '~0').replaceAll('/', '~1'))}`
  const [failure, name] = [at('a constant of an error'), at('the name of a property of an error')]
  const error = {
    description: at('the description of an error'),
    content: {
      [JSON_TYPE]: {
        schema: {
          type: 'object',
          required: ['errors', name, 'constant'],
          properties: {
            errors: { type: 'array', minItems: 1, items: TEXT },
            [name]: { enum: [name === 'false' ? false : name] },
            constant: { const: failure },
          },
        },
      },
    },
  }
  const thing = {
    type: 'object',
    description: at('the description of a schema'),
    required: [at('the name of a required property')],
    properties: {
      [at('the name of a property')]: { ...TEXT, description: at('the description of a property') },
      values: { enum: [at('a value of enum'), { [at('the name of a property in enum')]: 1 }] },
      constant: { const: at('a constant') },
      pattern: { ...TEXT, pattern: at('a pattern') },
      format: { ...TEXT, format: at('a format') },
      filled: { ...TEXT, readOnly: true, default: at('a default') },
      [at('an extension')]: true,
    },
    [`x-${at('the name of an extension')}`]: at('an extension'),
  }
  const example = { [at('the name of a property of an example')]: at('an example') }
  const operation = {
    operationId: at('an operationId'),
    summary: at('a summary'),
    tags: [at('a tag')],
    security: [{ [guarded]: [] }],
    parameters: [
      { in: 'path', name: parameter, required: true, schema: TEXT },
      { in: 'query', name: at('the name of a parameter in a query'), schema: TEXT },
      { in: 'header', name: at('the name of a header'), schema: TEXT },
    ],
    requestBody: {
      description: at('the description of a body'),
      content: { [JSON_TYPE]: { schema: { $ref: reference } } },
    },
    responses: {
      [at('a status')]: {
        description: at('the description of a response'),
        headers: { [at('the name of a header of a response')]: { schema: TEXT } },
        content: {
          [at('a media type')]: {
            examples: { [at('the name of an example')]: { value: example } },
          },
        },
      },
      default: error,
    },
  }
  const events = {
    content: { 'text/event-stream': { schema: TEXT, example: at('an example of an event') } },
    description: 'Events',
  }
  const signIn = `https://${at('the host of a provider')}/`
  return JSON.stringify({
    openapi: '3.1.0',
    info: { title: at('the title'), version: '1.0.0', description: at('the description') },
    servers: [{ url: at('a server') }],
    paths: {
      [`/${at('a segment of a path')}/{${parameter}}`]: { post: operation },
      '/events': {
        get: {
          operationId: 'follow',
          security: [{ [token]: [at('a scope')] }],
          responses: { 200: events, default: error },
        },
      },
      '/failing': { get: { responses: { 204: { description: 'Done' }, default: error } } },
    },
    components: {
      schemas: { [schema]: thing },
      securitySchemes: {
        [guarded]: { type: 'http', scheme: at('the name of a scheme of HTTP') },
        [token]: { type: 'openIdConnect', openIdConnectUrl: signIn },
      },
    },
  })
}
