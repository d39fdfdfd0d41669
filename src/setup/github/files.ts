import { UserError } from '../../errors.ts'
import type { NewFile } from '../harness/skeleton.ts'
import { agentsAction } from './agents-action.ts'
import { commentsWorkflow } from './comments-workflow.ts'
import { measureWorkflow } from './measure-workflow.ts'
import { setupAction } from './setup-action.ts'
import { tickWorkflow } from './tick-workflow.ts'
import type { Toolchain } from './toolchain.ts'
import { wakeWorkflow } from './wake-workflow.ts'
import { asksPrograms, type GithubSetup } from './workflow-of.ts'

/** An action of somebody, pinned. */
const ACTION = /^[\w.-]+\/[\w.-]+(?:\/[\w.-]+)*@[0-9a-f]{40}(?: # [\w.-]+)?$/

export const SETUP_ACTION = '.github/actions/winnow-setup/action.yml'
export const AGENTS_ACTION = '.github/actions/winnow-agents/action.yml'
/** Written where they are missing, and their owner's from then on. */
export const OF_THE_OWNER: ReadonlySet<string> = new Set([SETUP_ACTION, AGENTS_ACTION])

/** Every file that any set-up may write. */
export const GITHUB_PATHS: readonly string[] = [
  ...['winnow', 'winnow-measure', 'winnow-wake', 'winnow-comments'].map(workflowPath),
  SETUP_ACTION,
  AGENTS_ACTION,
]

function workflowPath(name: string): string {
  return `.github/workflows/${name}.yml`
}

export function requirePinned(action: string): void {
  if (ACTION.test(action)) return
  throw new UserError(`--action is ${JSON.stringify(action)}`, {
    fix: 'give owner/repository@<the 40 digits of a commit>: a tag could be moved',
  })
}

/** All that a repository needs for campaigns on GitHub; `comments` steer only where somebody wants that. */
export function githubFiles(
  setup: GithubSetup,
  toolchain: Toolchain,
  wanted: { comments: boolean },
): NewFile[] {
  const workflow = (name: string, text: string) => ({ path: workflowPath(name), text })
  return [
    workflow('winnow', tickWorkflow(setup)),
    workflow('winnow-measure', measureWorkflow(setup)),
    workflow('winnow-wake', wakeWorkflow(setup)),
    ...(wanted.comments ? [workflow('winnow-comments', commentsWorkflow(setup))] : []),
    { path: SETUP_ACTION, text: setupAction(toolchain) },
    ...(asksPrograms(setup) ? [{ path: AGENTS_ACTION, text: agentsAction(setup) }] : []),
  ]
}
