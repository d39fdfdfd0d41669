import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { seedCampaign } from '../../test/report/pictured-campaign.ts'
import { EVENTS, PICTURES, pictureSources } from './pictures.ts'

/**
 * Draws the pictures of the docs: the Markdown that the functions write, rendered by GitHub's rules and with GitHub's
 * style sheet, photographed by Chromium (CHROMIUM, or chromium of the PATH).
 */
const CHROMIUM = process.env['CHROMIUM'] ?? 'chromium'
const WIDTH = 900
const STYLE = readFileSync('node_modules/github-markdown-css/github-markdown-light.css', 'utf8')

function pageOf(markdown: string, svg: string): string {
  const chart = Buffer.from(svg).toString('base64')
  const html = micromark(markdown, {
    allowDangerousHtml: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  })
    .replace(/src="[^"]*chart\.svg[^"]*"/, `src="data:image/svg+xml;base64,${chart}"`)
    .replace(/(?<=[\s>])#\d+\b/g, number => `<a href="#">${number}</a>`)
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}
body{margin:0;background:#fff}
main{box-sizing:border-box;width:${WIDTH}px;padding:20px 28px 24px;border:1px solid #d1d9e0;border-radius:6px}
main>h1:first-child{font-size:1.6em;font-weight:400}
</style><main class="markdown-body">${html}</main>`
}

/** The height that the page needs, as Chromium lays it out. */
function heightOf(browser: Browser, page: string): number {
  const asked = page.replace(
    '</main>',
    '</main><script>document.title=String(document.querySelector("main").offsetHeight)</script>',
  )
  const dom = browser.run(asked, ['--dump-dom'])
  const [, height] = /<title>(\d+)<\/title>/.exec(dom) ?? []
  if (height === undefined) throw new Error('Chromium laid nothing out')
  return Number(height)
}

/** Headless, without a word to anybody. */
class Browser {
  readonly #dir = mkdtempSync(join(tmpdir(), 'winnow-pictures-'))

  run(page: string, args: readonly string[]): string {
    const file = join(this.#dir, 'page.html')
    writeFileSync(file, page)
    return execFileSync(
      CHROMIUM,
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--hide-scrollbars',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        `--user-data-dir=${join(this.#dir, 'profile')}`,
        ...args,
        `file://${file}`,
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    )
  }

  close(): void {
    rmSync(this.#dir, { recursive: true, force: true })
  }
}

if (process.argv.includes('--seed')) {
  mkdirSync(dirname(EVENTS), { recursive: true })
  const lines = seedCampaign().map(event => JSON.stringify(event))
  writeFileSync(EVENTS, `${lines.join('\n')}\n`)
}
mkdirSync(PICTURES, { recursive: true })
const sources = pictureSources()
const browser = new Browser()
for (const [path, source] of Object.entries(sources)) {
  writeFileSync(path, source)
  if (!path.endsWith('.md')) continue
  const page = pageOf(source, sources[`${PICTURES}/chart.svg`] ?? '')
  const picture = resolve(path.replace(/\.md$/, '.png'))
  browser.run(page, [`--screenshot=${picture}`, `--window-size=${WIDTH},${heightOf(browser, page)}`])
  console.log(picture)
}
browser.close()
