import type { LedgerEvent } from '../model/event.ts'
import type { Report } from '../model/report.ts'

const MOST = 40

interface LastWords {
  /** "gate tests", as the verdict names it. */
  who: string
  text: string
}

/** What an experiment printed before it failed, newest measurement only: what is to be mended stands there. */
export function lastWords(events: readonly LedgerEvent[], id: string): string[] {
  const measured = events.findLast(event => event.kind === 'measured')
  const found = measured?.kind === 'measured' ? failureOf(measured.report, id) : null
  if (found === null) return []
  const lines = found.text.trimEnd().split('\n')
  const cut = lines.length > MOST ? ['    …'] : []
  return [`The last lines of ${found.who}:`, ...cut, ...lines.slice(-MOST).map(line => `    ${line}`), '']
}

function failureOf({ setups, gates, executions }: Report, id: string): LastWords | null {
  const setup = setups.find(({ side, ok }) => side === id && !ok)
  if (setup !== undefined) return spoken('set-up', setup.tail)
  const gate = gates.find(({ side, passed }) => side === id && !passed)
  if (gate !== undefined) return spoken(`gate ${gate.name}`, gate.tail)
  const run = executions.find(({ side, status }) => side === id && status !== 'ok')
  return run === undefined ? null : spoken('the harness', run.stderr_tail)
}

/** Who printed nothing has that said as well, so that nobody looks for it elsewhere. */
function spoken(who: string, text: string | undefined): LastWords {
  return { who, text: text?.trim() ? text : '(it printed nothing)' }
}
