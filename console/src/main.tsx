import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'
import './theme/global.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { loadPageAt } from './pages.ts'

loadPageAt(location.pathname)
createRoot(document.getElementById('root')!).render(<App />)
