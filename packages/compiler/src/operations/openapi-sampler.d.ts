// openapi-sampler has no types of its own: https://github.com/Redocly/openapi-sampler
declare module 'openapi-sampler' {
  /**
   * Makes a value from a schema.
   * @param document follows the references of the schema
   * @throws {Error} for a reference that leads nowhere
   */
  export function sample(
    schema: unknown,
    options: {
      readonly skipWriteOnly?: boolean
      readonly skipNonRequired?: boolean
      /** Whether a text is made from its pattern. */
      readonly enablePatterns?: boolean
      readonly quiet?: boolean
    },
    document: unknown,
  ): unknown
}
