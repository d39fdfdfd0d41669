/** An answer of GitHub's that is none to the question. */
export class Refusal extends Error {
  readonly status: number
  readonly extra: Record<string, unknown>
  readonly headers: Record<string, string>
  constructor(
    status: number,
    message: string,
    extra: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(message)
    this.status = status
    this.extra = extra
    this.headers = headers
  }
}

export function notFound(): Refusal {
  return new Refusal(404, 'Not Found')
}

export function invalid(errors: Record<string, string>[]): Refusal {
  return new Refusal(422, 'Validation Failed', { errors })
}

const LONGEST = { title: 256, body: 65_536 }

/** GitHub cuts nothing off: it refuses. */
export function fitting(field: keyof typeof LONGEST, text: string): string {
  if (text.length <= LONGEST[field]) return text
  const message = `${field} is too long (maximum is ${LONGEST[field]} characters)`
  throw invalid([{ resource: 'Issue', code: 'custom', field, message }])
}

export function invalidPull(message: string): Refusal {
  return invalid([{ resource: 'PullRequest', code: 'custom', message }])
}
