/**
 * Writes where the project lives into package.json, and who reviews changes into CODEOWNERS:
 * `node .github/scripts/set-repository.ts owner/name @person [@org/team …]`, with Node 22.18 or newer.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, cwd, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { CODEOWNERS, projectLinks, renderCodeowners } from './project-links.ts'

const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9._-]+$/
const OWNER = /^@[A-Za-z0-9][A-Za-z0-9-]*(\/[A-Za-z0-9._-]+)?$/

/** The lines to print, or what is wrong with the arguments. */
export function setRepository(
  directory: string,
  [repository = '', ...owners]: readonly string[],
): { written: string[] } | { error: string } {
  if (!REPOSITORY.test(repository)) return { error: `${JSON.stringify(repository)} is not owner/name` }
  if (owners.length === 0) return { error: 'no owner is given' }
  const wrong = owners.find(owner => !OWNER.test(owner))
  if (wrong !== undefined) return { error: `${JSON.stringify(wrong)} is not @person or @organisation/team` }
  const file = join(directory, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, `${JSON.stringify({ ...manifest, ...projectLinks(repository) }, null, 2)}\n`)
  writeFileSync(join(directory, CODEOWNERS), renderCodeowners(owners))
  return {
    written: [
      `Wrote repository, homepage and bugs of ${repository} into package.json.`,
      `Wrote ${CODEOWNERS}: ${owners.join(', ')}.`,
    ],
  }
}

function main(): number {
  const result = setRepository(cwd(), argv.slice(2))
  if ('written' in result) {
    console.log(result.written.join('\n'))
    return 0
  }
  console.error(`error: ${result.error}`)
  console.error(
    '  fix: node .github/scripts/set-repository.ts owner/name @person, for example octo/winnow @octocat',
  )
  return 2
}

if (argv[1] === fileURLToPath(import.meta.url)) exit(main())
