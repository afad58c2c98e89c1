/** The server as others meet it: started from its jar or image, over a real Redis, asked over HTTP. */
package io.sluice.server.outside;
