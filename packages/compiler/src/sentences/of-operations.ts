// The sentences about operations: their paths, servers, credentials and parameters, by code.

/** A name in angle brackets stands for a value of the finding. */
export const OF_OPERATIONS = {
  'path-unservable':
    "this path is not served: write letters, digits, -._~!$&'()+,;=@: and {parameters}, with other characters between two of them",
  'path-ambiguous': "the router can't tell the path <path> from <earlier>: change one of them",
  'path-reserved': 'the path <path> is taken by the document and its page',
  'operation-broken': "this operation can't be compiled: <reason>",
  'id-absent': 'without operationId, the method is called <name>',
  'id-repeated': 'two operations have the operationId <id>: the method is called <name>',
  'id-taken': 'two operations have the operationId <id>',
  'status-undescribed': 'the service answers <status> by itself: describe it, or "default"',

  'server-unservable': 'of this server the path <prefix>/ is served: write /v1',
  'server-variables': 'variables in the path have their defaults: <prefix>',
  'server-further': 'only the path of the first server is served: <prefix>/',

  'scheme-unknown': 'the security scheme <name> is not in components/securitySchemes',
  'scheme-absent':
    'the security scheme <name> is not in components/securitySchemes, which has <names>',
  'scheme-guarded':
    'the security scheme <name> is not in components/securitySchemes: the guard of this name in the product checks it',
  'scheme-misspelt':
    'the security scheme <name> is not in components/securitySchemes. Did you mean <meant>?',
  'scope-unsendable':
    'no header can hold the scope <scope>: write visible ASCII characters without " and \\',
  'sign-in-unservable':
    'the docs page does not sign in at this address: write a host of letters, digits, - and .',
  'guard-undecided': 'the security scheme <name> is served with a guard of the product: <guard>',
  'guard-absent': 'the security scheme <name> is left out: the product has no <guard>',
  'guard-needed': 'the security scheme <name> needs <lacked>: write <guard> in the product',

  'path-parameter-misspelt':
    'the path has no {<name>}: call the parameter as the path does, <names>',
  'path-parameter-unused': 'the path has no {<name>}: this parameter is left out',
  'path-parameter-undescribed':
    'the parameter {<name>} of the path is not described: it is a string',
  'parameter-open':
    'the parameter <name> takes all other names of the query: beside another object like it, write "style: deepObject", or "content"',
  'parameter-content':
    'the parameter <name> has an unsupported content: write only application/json, or "schema"',
  'parameter-split':
    'the parameter <name> is one cookie: write "explode: false", or "type: string"',
  'parameter-not-simple':
    'the parameter <name> needs a simple "type": integer, number, boolean, string, or a list of these',
  'parameter-not-object':
    'the parameter <name> needs "type: object", with properties of a simple type, or "content"',
  'parameter-nested':
    'the parameter <name> needs properties other than lists and objects, or "content"',
} as const
