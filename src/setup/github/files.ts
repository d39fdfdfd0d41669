import type { NewFile } from '../harness/skeleton.ts'
import { renderAgentsAction } from './agents-action.ts'
import { hasProgramProposers, type GithubSetup } from './github-setup.ts'
import { renderSetupAction } from './setup-action.ts'
import { renderSingleJobWorkflow } from './single-job-workflow.ts'
import type { Toolchain } from './toolchain.ts'
import { renderWorkflow } from './winnow-workflow.ts'

export const WORKFLOW = '.github/workflows/winnow.yml'
export const SETUP_ACTION = '.github/actions/winnow-setup/action.yml'
export const AGENTS_ACTION = '.github/actions/winnow-agents/action.yml'
/** Written where they are missing, and their owner's from then on. */
export const OWNER_FILES: ReadonlySet<string> = new Set([SETUP_ACTION, AGENTS_ACTION])

/** Every file that any set-up may write. */
export const GITHUB_PATHS: readonly string[] = [WORKFLOW, SETUP_ACTION, AGENTS_ACTION]

/** Renders all that a repository needs for campaigns on GitHub. */
export function renderGithubFiles(
  setup: GithubSetup,
  toolchain: Toolchain,
  { singleJob = false }: { singleJob?: boolean } = {},
): NewFile[] {
  return [
    { path: WORKFLOW, text: singleJob ? renderSingleJobWorkflow(setup) : renderWorkflow(setup) },
    { path: SETUP_ACTION, text: renderSetupAction(toolchain) },
    ...(hasProgramProposers(setup) ? [{ path: AGENTS_ACTION, text: renderAgentsAction(setup) }] : []),
  ]
}
