// A dome of two colors, drawn behind everything. `paint(horizon, zenith)` sets them.

import { BackSide, Color, Mesh, ShaderMaterial, SphereGeometry, SRGBColorSpace, Vector3 } from "three";

// Turned with the camera but not moved by it, and as far away as can be.
const VERTEX = `
varying vec3 direction;
void main() {
  direction = position;
  vec4 place = projectionMatrix * vec4(mat3(viewMatrix) * position, 1.0);
  gl_Position = place.xyww;
}`;

const FRAGMENT = `
uniform vec3 horizon;
uniform vec3 zenith;
varying vec3 direction;
void main() {
  float height = clamp(normalize(direction).z, 0.0, 1.0);
  gl_FragColor = vec4(mix(horizon, zenith, smoothstep(0.0, 0.7, height)), 1.0);
}`;

// Colors as they reach the screen: the shader converts nothing.
function onScreen(text) {
  const { r, g, b } = new Color(text).getRGB({}, SRGBColorSpace);
  return new Vector3(r, g, b);
}

export function sky() {
  const material = new ShaderMaterial({
    side: BackSide,
    depthWrite: false,
    uniforms: { horizon: { value: new Vector3() }, zenith: { value: new Vector3() } },
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
  });
  const dome = new Mesh(new SphereGeometry(1, 32, 16), material);
  dome.frustumCulled = false;
  dome.renderOrder = -1;
  dome.paint = (horizon, zenith) => {
    material.uniforms.horizon.value = onScreen(horizon);
    material.uniforms.zenith.value = onScreen(zenith);
  };
  return dome;
}
