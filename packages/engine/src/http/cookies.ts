// Reads the cookies of a request (RFC 6265, section 4.2.1).

/** The values of the cookies with a name, as they were sent, without quotes around them. @param header `Cookie`; empty if there is none */
export function cookieTexts(header: string, name: string): readonly string[] {
  const cookies = header.split(';').map((cookie) => cookie.trim())
  const named = cookies.filter((cookie) => cookie.startsWith(`${name}=`))
  return named.map((cookie) => cookie.slice(name.length + 1).replace(/^"(.*)"$/, '$1'))
}
