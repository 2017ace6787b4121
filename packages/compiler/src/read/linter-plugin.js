// A plugin of Redocly's linter: it does not call a schema with `x-internal: true` unused. The rule `no-unused-components`
// has no option for it, so each of these schemas gets a reference to itself before the rules see it.

const internalSchemas = () => ({
  NamedSchemas: {
    Schema(schema, { location }) {
      if (schema['x-internal'] !== true) return
      schema.$defs ??= {}
      schema.$defs['x-internal'] ??= { $ref: location.pointer }
    },
  },
})

export default () => ({
  id: 'service',
  preprocessors: { oas3: { 'internal-schemas': internalSchemas } },
})
