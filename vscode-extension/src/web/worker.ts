// The server in a thread of its own: whatever a text costs, the editor goes on.
import type { Ended, Files, Start } from './messages';
import { ServerModule } from './module';

self.onmessage = ({ data }: MessageEvent<Start>): void => {
  serve(data).catch(stopped);
};

function stopped(error: unknown): void {
  end({ reason: String(error) });
}

function end(ended: Ended): void {
  self.postMessage(ended);
  self.close();
}

async function serve({ module, port }: Start): Promise<void> {
  const server = await ServerModule.load(module);
  port.onmessage = ({ data }: MessageEvent<Files | { method?: string }>): void => {
    try {
      if ('files' in data) {
        data.files.forEach(([path, content]) => { server.put(path, content); });
        return;
      }
      server.receive(data).forEach((message) => { port.postMessage(message); });
      if (data.method === 'exit') {
        end({});
      }
    } catch (error) {
      stopped(error);
    }
  };
}
