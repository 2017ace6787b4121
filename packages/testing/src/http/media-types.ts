// Tells media types apart.

export const isJson = (type: string) => /^(application|text)\/json$|\+json$/i.test(type)
export const isBytes = (type: string) =>
  !isJson(type) && !/^(text|multipart)\/|urlencoded$|[/+]xml$|yaml$/i.test(type)
/** Whether the service takes bodies of a media type. */
export const isServed = (type: string) =>
  !/;|[/+]xml$|yaml$|^multipart\/(?!form-data$)|^text\/event-stream$/i.test(type)
