import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { PAGES } from './pages.ts'

for (const [path, page] of Object.entries(PAGES)) {
  const text = page()
  const same = existsSync(path) && readFileSync(path, 'utf8') === text
  if (!same) writeFileSync(path, text)
  console.log(`${path}: ${same ? 'up to date' : 'written'}`)
}
