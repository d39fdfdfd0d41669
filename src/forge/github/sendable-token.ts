import { UserError } from '../../errors.ts'

/** Any other, whoever is to send it would refuse with an error that repeats it. */
export function requireSendable(token: string): void {
  if (/^[!-~]+$/.test(token)) return
  throw new UserError('the token for GitHub holds characters that no token has', {
    fix: 'give it as it was made, without line breaks and blanks',
  })
}
