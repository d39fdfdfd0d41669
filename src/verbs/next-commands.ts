import type { Workshop } from '../engine/open.ts'
import { shortRef } from '../model/refs.ts'
import type { Call } from './call.ts'
import { nameOfFile } from './committed-specs.ts'
import { isOnGithub } from './github-of.ts'
import { pathHere, shellWord } from './path-here.ts'

/** What is to be typed next; written for the state in which the project is now. */
export function nextCommands(done: {
  call: Call
  workshop: Workshop
  paths: readonly string[]
  specPath: string
  passed: boolean
}): string[] {
  const { call, workshop, paths, specPath, passed } = done
  const here = (path: string) => shellWord(pathHere(call, workshop, path))
  const branch = shortRef(workshop.defaultBranch ?? '')
  const elsewhere = workshop.checkout.head !== workshop.defaultBranch
  const place = elsewhere ? `, on ${branch}` : ''
  const push = workshop.local ? '' : ' && git push'
  const commit = `git add ${paths.map(here).join(' ')} && git commit -m "winnow: ${nameOfFile(specPath)}"${push}`
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
