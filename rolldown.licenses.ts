import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'

const PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

/** Whose work is in the bundle, with the notice that each licence asks to be kept: the minifier drops comments. */
export function licensesOfBundled(file: string): () => Plugin {
  const bundled = new Set<string>()
  return () => ({
    name: 'licenses',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter(each => each.type === 'chunk')
      for (const id of chunks.flatMap(({ moduleIds }) => moduleIds)) {
        const directory = PACKAGE.exec(id)?.[0]
        if (directory !== undefined) bundled.add(directory)
      }
    },
    writeBundle() {
      const notices = [...bundled].map(noticeOf).toSorted()
      writeFileSync(file, `${[...new Set(notices)].join(`\n${'-'.repeat(80)}\n`)}`)
    },
  })
}

function noticeOf(directory: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const texts = readdirSync(directory).filter(entry => /^(?:licen[cs]e|copying|notice)\b/i.test(entry))
  const told = texts.toSorted().map(entry => readFileSync(join(directory, entry), 'utf8').trim())
  return `${name} ${version}, ${license}\n\n${told.join('\n\n')}\n`.replaceAll('\r\n', '\n')
}
