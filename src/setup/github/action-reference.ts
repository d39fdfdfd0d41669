/** Stands for the action of the repository itself: action.yml at the top of its default branch. */
export const OWN_ACTION = './'

/** The directory of the clone in jobs that also run code of others. */
export const CLONE_DIRECTORY = 'repository'

/** `$/` with a path would be the commit of the workflow file, which is that of the campaign's branch in a measuring run. */
export const FROM_CLONE = '# zizmor: ignore[self-repository] always the default branch'

/** The `uses:` of a step; `directory` is where the job has cloned the default branch, '' for its workspace. */
export function referToAction(action: string, directory: '' | typeof CLONE_DIRECTORY): string {
  return action === OWN_ACTION ? `./${directory} ${FROM_CLONE}` : action
}

const WINNOW_STEP =
  /^ +uses: (?<action>\S+(?: # [\w.-]+)?)(?: # zizmor:.*)?\n +with:\n +command: (?<command>tick|run)$/m

export interface WrittenWorkflow {
  action: string
  singleJob: boolean
}

/** Reads from the text of a workflow with which action and in which mode it was written; null for any other file. */
export function readWrittenWorkflow(text: string): WrittenWorkflow | null {
  const { action, command } = WINNOW_STEP.exec(text)?.groups ?? {}
  if (action === undefined) return null
  return { action: action.startsWith('./') ? OWN_ACTION : action, singleJob: command === 'run' }
}
