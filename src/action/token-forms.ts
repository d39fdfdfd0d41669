/**
 * A token as it goes over the wire and as it is told to git: without what base64 ends with, so that whatever
 * follows it is no other form of it.
 */
export function listTokenForms(token: string): string[] {
  return [token, toBase64(token), toBase64(`x-access-token:${token}`)]
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64').replace(/=+$/, '')
}
