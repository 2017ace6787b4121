// The sentences about bodies, responses and built-in errors, by code.

/** A name in angle brackets stands for a value of the finding. */
export const OF_BODIES = {
  'media-type-left-out': '<range> is left out: <reason>',
  'media-type-listed': '<range> is left out: <type> is there, too',
  'media-type-twice': 'the media type <type> is there twice: leave one out',
  'media-type-parameters': '<range> is served as <type>: a body may have any parameters',
  'media-type-any': 'a body of */* with a schema is taken as application/json',
  'media-type-passed-on': 'a body of <type> is <kind>, which nobody parses or checks',
  'media-type-range':
    'the media type <type> is not served: write each media type by its name, or all of a kind as image/*, without parameters',
  'media-type-unnamed':
    'the media type <type> is not served: write the name of a media type, such as application/json',
  'media-type-unparsed': 'the media type <type> is not served: write application/json',
  'media-type-multipart': 'the media type <type> is not served: write multipart/form-data',
  'media-type-no-response': '<type> is no response: write application/json',
  'media-type-no-request': '<type> is no request: write application/json',
  'schema-not-multipart':
    'the schema of <type> is not served: write "type: object", with a property for each field and file',
  'schema-not-urlencoded':
    'the schema of <type> is not served: write "type: object", with a property for each field',
  'schema-not-text': 'the schema of <type> is not served: write "type: string"',
  'schema-not-bytes':
    'the schema of <type> is not served: write "type: string, format: binary", at most with a maxLength',
  encoding: '"encoding" is not served: leave it out',
  'file-types': 'the media types of files are not checked: the method gets the type of each',
  'form-undescribed': 'this schema describes no fields: the form may have any, which nobody checks',
  'form-field-not-simple':
    'the field <name> needs a simple "type": integer, number, boolean, string, or a list of these',
  'file-rules':
    'a file of a form has minLength and maxLength in bytes: its other keywords are not checked',
  'body-default': 'the default of a whole body is not filled in',
  'body-limit': '<field> must be a number of bytes, from 1',

  'response-bodiless': 'in HTTP, <status> has no body: leave it out',
  'header-untyped': 'the header <name> has no "schema": it is a string',
  'header-unservable':
    'the header <name> is not served: write a "schema" of one string, number or boolean',

  'error-undescribed':
    'the service writes this error with a body, which says why: describe it in "content"',
  'error-of-other-type':
    'the service writes this error as { error, message }: it has no error of this media type',
  'error-known': 'the service writes this error as { <properties> }: errorBody is for other forms',
  'error-templated':
    'the service writes this error as <body>: an errorBody in product.ts may write another body',
  'error-templated-silent':
    'the service writes this error as <body>, which has no place for the message: an errorBody in product.ts may write another body',
  'error-impossible':
    'the service answers this error by itself, and no body could be made for it: write into product.ts an errorBody that fits <schema>',
  'error-body-misfit': '<fault>',
} as const
