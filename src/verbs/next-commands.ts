import type { RepositoryContext } from '../engine/open.ts'
import { toShortRef } from '../model/refs.ts'
import type { Call } from './call.ts'
import { toSpecName } from './committed-specs.ts'
import { isOnGithub } from './github-of.ts'
import { toTypedPath, quoteShellPath } from './path-here.ts'

/** What is to be typed next; written for the state in which the project is now. */
export function renderNextCommands(done: {
  call: Call
  workshop: RepositoryContext
  paths: readonly string[]
  specPath: string
  passed: boolean
}): string[] {
  const { call, workshop, paths, specPath, passed } = done
  const here = (path: string) => quoteShellPath(toTypedPath(call, workshop, path))
  const branch = toShortRef(workshop.defaultBranch ?? '')
  const elsewhere = workshop.checkout.head !== workshop.defaultBranch
  const place = elsewhere ? `, on ${branch}` : ''
  const push = workshop.local ? '' : ' && git push'
  const commit = `git add ${paths.map(here).join(' ')} && git commit -m "winnow: ${toSpecName(specPath)}"${push}`
  if (!passed) {
    return [
      '',
      'Next, after you have done what is marked above:',
      `  ${commit}`,
      `  winnow check ${here(specPath)}`,
    ]
  }
  const runs = isOnGithub(workshop, call.around.env)
    ? [
        '  then one of:',
        '    winnow run                       on this machine',
        '    winnow init --github --open-pr   in GitHub Actions',
      ]
    : ['  winnow run']
  return ['', `Next${place}:`, `  ${commit}`, ...runs, '', 'To undo it all: winnow uninstall']
}
