import { Tabs } from '@mantine/core'
import classes from './code.module.css'
import { CopyButton } from './copy-button.tsx'

/** Code to read and to copy. */
export function Snippet({ code, label = 'Code' }: { code: string; label?: string }) {
  return (
    <div className={classes.snippet}>
      {/* It scrolls, so it must be focusable by keyboard. */}
      <div className={classes.code} role="region" tabIndex={0} aria-label={label}>
        <pre>{code}</pre>
      </div>
      <div className={classes.copy}>
        <CopyButton text={code} what={label} small />
      </div>
    </div>
  )
}

/** The same code in several languages. */
export function Snippets({ codes }: { codes: Readonly<Record<string, string>> }) {
  const names = Object.keys(codes)
  return (
    <Tabs defaultValue={names[0]!} keepMounted={false}>
      <Tabs.List mb="xs">
        {names.map(name => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {names.map(name => (
        <Tabs.Panel key={name} value={name}>
          <Snippet code={codes[name]!} label={name} />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
