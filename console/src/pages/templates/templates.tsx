import { lazy } from 'react'
import { TemplateList } from './template-list.tsx'

const Editor = lazy(() => import('./editor.tsx'))
const TemplatePage = lazy(() => import('./template-page.tsx'))

/** The list; `/templates/new` is the editor, every other name a template. */
export default function Templates({ templateId }: { templateId?: string }) {
  if (templateId === undefined) return <TemplateList />
  return templateId === 'new' ? <Editor /> : <TemplatePage key={templateId} templateId={templateId} />
}
