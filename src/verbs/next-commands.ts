import type { Workshop } from '../engine/open.ts'
import { shortRef } from '../model/refs.ts'
import { nameOfFile } from './committed-specs.ts'

/** What is to be typed next; written for the state in which the project is now. */
export function nextCommands(done: {
  workshop: Workshop
  paths: readonly string[]
  specPath: string
  passed: boolean
}): string[] {
  const { workshop, paths, specPath, passed } = done
  const branch = shortRef(workshop.defaultBranch ?? '')
  const elsewhere = workshop.checkout.head !== workshop.defaultBranch
  const place = elsewhere ? `, on ${branch}` : ''
  const push = workshop.local ? '' : ' && git push'
  const commit = `git add ${paths.map(quoted).join(' ')} && git commit -m "winnow: ${nameOfFile(specPath)}"${push}`
  if (!passed) {
    return [
      '',
      'Next, once what is wrong is put right in these files:',
      `  winnow check ${specPath}`,
      `  ${commit}`,
    ]
  }
  return ['', `Next${place}:`, `  ${commit}`, '  winnow run', '', 'To undo it all: winnow uninstall']
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
