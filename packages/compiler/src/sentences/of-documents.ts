// The sentences about a document and its files, by code.

/** A name in angle brackets stands for a value of the finding. */
export const OF_DOCUMENTS = {
  'field-empty': 'this is empty: it is as if it were not there',
  'required-misplaced':
    'required is a no-op here: it is a list of names, in the schema of the object with the property',
  'reference-not-uri': 'this $ref is no URI: write % as %25',
  'reference-circular': 'the reference leads back to itself',
  'reference-dangling':
    "this $ref leads nowhere: write '#/components/...', or the path of a file; anchors and URLs are not served",
  'schema-internal':
    '<name> is internal, and what refers to it is published: leave out its x-internal, or refer to another schema',
  'link-not-read': 'this link is served as it is written: nothing is read from it',
  'file-by-url': 'only files are read: copy it beside the contract',
  'file-outside':
    'only files in <folder> are read: copy it there, or name a wider folder by refsWithin',
  'file-missing': 'ENOENT: there is no file <file>',
  'file-unreadable': "<reason>: the file <file> can't be read",
  'file-hidden': 'a hidden file is never read: give it a name without a dot at the start',
  'version-upgraded':
    'OpenAPI 3.0 is read as 3.1: see https://www.openapis.org/blog/2021/02/16/migrating-from-openapi-3-0-to-3-1-0',
  'version-swagger':
    'OpenAPI <version> is not served: convert it with `npx @scalar/cli document upgrade FILE --output openapi.yaml`',
  'version-unknown': 'OpenAPI <version> is not served: write openapi: 3.1.0',
  'index-misfit': 'the index <index> of the collection <collection>: <fault>',
  'left-out-unknown': 'product.ts leaves out <name>: there is no such operation',
  misspelt: '<message> Did you mean <meant>?',
} as const
