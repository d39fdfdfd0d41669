import { UserError } from '../../errors.ts'

/** The action of the repository that a file of workflows itself comes from, at that file's own commit. */
export const OWN_ACTION = '$/'

/** Workflows that others call: the jobs whose every step is winnow's. */
export const REUSABLE = {
  tick: '.github/workflows/reusable-tick.yml',
  measure: '.github/workflows/reusable-measure.yml',
} as const
export type Reusable = keyof typeof REUSABLE

const AT_THE_TOP = /^(?<repository>[\w.-]+\/[\w.-]+)@(?<commit>\S+)(?<version> # \S+)?$/

/** What a job that calls one `uses`: at the commit that the action is pinned to, or as it lies beside the caller. */
export function callOf(action: string, reusable: Reusable): string {
  if (action === OWN_ACTION) return `./${REUSABLE[reusable]}`
  const { repository, commit, version = '' } = AT_THE_TOP.exec(action)?.groups ?? {}
  if (repository !== undefined) return `${repository}/${REUSABLE[reusable]}@${commit}${version}`
  throw new UserError(`--action is ${JSON.stringify(action)}, which is not at the top of its repository`, {
    fix: 'leave --reusable out: workflows can be called only of a repository as winnow has it',
  })
}

/** The step that is winnow itself, by the commit that it is pinned to; or the call of a job that is. */
const NAMED = /uses: (?<action>\S*winnow\S*@[0-9a-f]{40}(?: # [\w.-]+)?)$/m
const CALLED = new RegExp(
  `uses: (?<repository>[\\w./-]+)/${REUSABLE.tick.replaceAll('.', '\\.')}(?<at>(?:@[0-9a-f]{40}(?: # [\\w.-]+)?)?)$`,
  'm',
)

/** What a workflow that carries campaigns on was written with; null where it is none of ours. */
export function writtenWith(text: string): { action: string; calls: boolean } | null {
  const called = CALLED.exec(text)?.groups
  if (called !== undefined) {
    const { repository = '', at = '' } = called
    return { action: repository === '.' ? OWN_ACTION : `${repository}${at}`, calls: true }
  }
  const action = NAMED.exec(text)?.groups?.['action']
  return action === undefined ? null : { action, calls: false }
}
