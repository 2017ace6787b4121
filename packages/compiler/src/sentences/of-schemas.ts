// The sentences about schemas and their values, by code.

/** A name in angle brackets stands for a value of the finding. */
export const OF_SCHEMAS = {
  'schema-invalid': '<path> <fault>',
  'schema-invalid-value': '<path> <fault>: <values>',
  'example-misfit': 'this example does not fit its schema: <error>',
  'example-impossible':
    'no example of this answer can be made for `npm run dev`: give an "example"',
  'enum-misfit': 'the type refuses this value of enum: <error>',
  'default-misfit': 'this default does not fit its schema: it is not filled in',
  'default-too-large':
    'this default would fill in more than <most> properties: it is not filled in',
  'default-below': 'a default below <key> is not filled in: write it beside <key>',

  'keyword-unknown': '<key> is no keyword of JSON Schema 2020-12: it validates nothing',
  'keyword-anchor': "<key> is not served: refer with $ref: '#/components/schemas/...'",
  'keyword-dialect': 'only JSON Schema 2020-12 is served: leave this out',
  'pattern-invalid': 'the pattern is not a regular expression of ECMAScript',
  'pattern-exponential':
    'a short string can keep this pattern busy for hours: repeat no group with a repetition in it, or with alternatives for the same string',
  'pattern-polynomial':
    'a long string can keep this pattern busy for seconds, because its time grows with the square of the length or more: write a maxLength beside it, or end each repetition at a character it does not match',
  'pattern-without-u': 'this pattern works only without the flag u: it is served so',
  'format-unknown':
    'the format <value> validates nothing here: formats in product.ts may have a function for it',
  nullable:
    'nullable is served as OpenAPI 3.0 has it, beside a type: write "null" as one of several types',
  'bound-exclusive': '<key> is served as OpenAPI 3.0 has it: write the bound itself',
  'files-compared': 'files are not compared: leave uniqueItems out',
  'property-proto': 'a property __proto__ is not served',

  'schema-impossible': 'nothing fits this schema: <fault>',
  'impossible-false': 'one of its schemas is false, which refuses everything',
  'impossible-endless': 'it requires itself within itself, without end',
  'impossible-not': 'not refuses everything',
  'impossible-values': 'its other keywords refuse each value of its enum or const',
  'impossible-types': 'its schemas allow different types',
  'impossible-item': 'it requires an item, but nothing fits it: <fault>',
  'impossible-contains': 'no item can fit contains',
  'impossible-count': 'it requires <least> properties, but allows <most>',
  'impossible-name': 'it requires <name>, but propertyNames refuses this name',
  'impossible-additional':
    'it requires <name>, but additionalProperties: false refuses it: describe <name> beside it',
  'impossible-unevaluated':
    'it requires <name>, but unevaluatedProperties: false refuses it: describe <name> beside it',
  'impossible-property': 'it requires <name>, but nothing fits it: <fault>',
  'impossible-alternatives': 'it fits none of its alternatives; of the first, <fault>',
  'impossible-size': '<minimum> <least> is above <maximum> <most>',
  'impossible-bounds': 'no <type> is between its lower bound <lower> and its upper bound <upper>',
  'impossible-closed':
    'minProperties <least> is more than additionalProperties: false allows: <most>',
} as const
