import type { Clock } from '../ports.ts'

export interface GithubClock extends Clock {
  /** Sets this clock by the `Date` of the answer. */
  follow(request: () => Promise<Response>): Promise<Response>
}

/**
 * Tells GitHub's time, so that what a job records can be compared with the times of comments, reviews and merges. It
 * departs from the machine's time only as far as GitHub's answers prove that one wrong.
 */
export function createGithubClock(machine: Clock): GithubClock {
  let ahead = 0
  return {
    now: () => machine.now() - ahead,
    monotonic: () => machine.monotonic(),
    sleep: (milliseconds, signal) => machine.sleep(milliseconds, signal),
    async follow(request) {
      const sentAt = machine.now()
      const answer = await request()
      const second = Date.parse(answer.headers.get('date') ?? '')
      if (Number.isNaN(second)) return answer
      const least = sentAt - (second + 1000)
      const most = machine.now() - second
      ahead = Math.min(Math.max(ahead, least), most)
      return answer
    },
  }
}
